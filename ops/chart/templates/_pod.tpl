{{/*
The pods. Each takes a list of the context and a component: a role, `embedded` (all roles in one process), `configuration`
(the job that applies it) or `test` (asks a question).
*/}}

{{/* Where the pod has its placement: what is common, then what is the role's. */}}
{{- define "sluice.placement" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $own := dict -}}
{{- if hasKey $root.Values.roles $component -}}{{- $own = (index $root.Values.roles $component).pod -}}{{- end -}}
{{- toYaml (mergeOverwrite (deepCopy $root.Values.pod) $own) -}}
{{- end }}

{{- define "sluice.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The secrets that a component mounts, each at /run/sluice/<name>: its name, and nothing that another one has. */}}
{{- define "sluice.secrets" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := $root.Values -}}
{{- $facts := index (include "sluice.roles" $root | fromYaml) $component | default dict -}}
{{- $embedded := eq $component "embedded" -}}
{{- if eq $values.mode "kafka" }}
keys: {{ include "sluice.keysSecret" . }}
{{- if not (has $component (list "configuration" "test")) }}
database: {{ $values.database.existingSecret | default (printf "%s-database" (include "sluice.fullname" $root)) }}
{{- end }}
{{- $kafka := $values.kafka.existingSecret }}
{{- if hasKey $values.roles $component }}
{{- $kafka = (index $values.roles $component).kafka.existingSecret | default $kafka }}
{{- end }}
{{- with $kafka }}
kafka: {{ . }}
{{- end }}
{{- with $values.registry.existingSecret }}
registry: {{ . }}
{{- end }}
{{- end }}
{{- if or $facts.localSecret $embedded }}
{{- with $values.localSecret.existingSecret }}
local: {{ . }}
{{- end }}
{{- end }}
{{- if or $facts.sealingKey $embedded }}
{{- with $values.sealingKey.existingSecret }}
sealing: {{ . }}
{{- end }}
{{- end }}
{{- if or $facts.content $facts.contentKeys $embedded }}
{{- with $values.content.existingSecret }}
content: {{ . }}
{{- end }}
{{- end }}
{{- if or $facts.model $embedded }}
{{- with $values.model.existingSecret }}
model: {{ . }}
{{- end }}
{{- end }}
{{- if eq $component "test" }}
{{- with $values.tests.existingSecret }}
token: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* What `sluice keys export` printed for the component. The test has what the gateway has: public keys alone. */}}
{{- define "sluice.keysSecret" -}}
{{- $root := index . 0 -}}
{{- $role := dict "configuration" "config" "test" "gateway" | dig (index . 1) (index . 1) -}}
{{- $root.Values.keys.existingSecretPrefix | default (printf "%s-keys-" (include "sluice.fullname" $root)) }}{{ $role }}
{{- end }}

{{/* The variables of a component, which name files: those of secrets, the configuration's. */}}
{{- define "sluice.variables" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := $root.Values -}}
{{- $secrets := include "sluice.secrets" . | fromYaml -}}
{{- if eq $component "embedded" }}
- { name: SLUICE_CONFIG, value: /etc/sluice/sluice.yaml }
{{- end }}
{{- if and $values.workspaces.existingClaim (has $component (list "embedded" "executor")) }}
- { name: SLUICE_WORKSPACES, value: /var/lib/sluice-workspaces }
{{- end }}
{{- if $secrets.keys }}
- { name: SLUICE_KEYS_FILE, value: /run/sluice/keys/keys.json }
{{- end }}
{{- if $secrets.database }}
- { name: DATABASE_URL_FILE, value: /run/sluice/database/{{ $values.database.secretKeys.url }} }
{{- with $values.database.secretKeys.ledger }}
- { name: SLUICE_LEDGER_FILE, value: /run/sluice/database/{{ . }} }
{{- end }}
{{- end }}
{{- $own := dict -}}
{{- if hasKey $values.roles $component -}}{{- $own = (index $values.roles $component).kafka -}}{{- end -}}
{{- if eq $values.mode "kafka" }}
{{- if has $values.kafka.sasl.mechanism (list "plain" "scram-sha-256" "scram-sha-512") }}
- { name: KAFKA_SASL_USERNAME, value: {{ $own.username | default $values.kafka.sasl.username | quote }} }
{{- else if eq $values.kafka.sasl.mechanism "oauthbearer" }}
- { name: KAFKA_OAUTH_CLIENT_ID, value: {{ $own.username | default $values.kafka.sasl.oauth.clientId | quote }} }
{{- end }}
{{- end }}
{{- if $secrets.local }}
- { name: SLUICE_LOCAL_SECRET_FILE, value: /run/sluice/local/{{ $values.localSecret.secretKeys.secret }} }
{{- end }}
{{- if $secrets.sealing }}
- { name: SLUICE_SECRETS_KEY_FILE, value: /run/sluice/sealing/{{ $values.sealingKey.secretKeys.key }} }
{{- end }}
{{- if $secrets.content }}
- { name: SLUICE_CONTENT_KEYS_FILE, value: /run/sluice/content/{{ $values.content.secretKeys.keys }} }
{{- end }}
{{- $facts := index (include "sluice.roles" $root | fromYaml) $component | default dict }}
{{- if and $values.content.bucket (or $facts.content (eq $component "embedded")) }}
- { name: SLUICE_CONTENT_BUCKET, value: {{ $values.content.bucket | quote }} }
{{- end }}
{{- if $secrets.model }}
- { name: {{ $values.model.variable }}_FILE, value: /run/sluice/model/{{ $values.model.secretKeys.key }} }
{{- end }}
{{- if $secrets.token }}
- { name: SLUICE_TOKEN_FILE, value: /run/sluice/token/{{ $values.tests.secretKeys.token }} }
{{- end }}
{{- end }}

{{/* Mounts of the operator's own that name the component. */}}
{{- define "sluice.ownMounts" -}}
{{- $component := index . 1 -}}
{{- $own := list -}}
{{- range (index . 0).Values.mounts -}}{{- if has $component .components -}}{{- $own = append $own . -}}{{- end -}}{{- end -}}
mounts: {{ toJson $own }}
{{- end }}

{{- define "sluice.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := $root.Values -}}
{{- $isRole := hasKey $values.roles $component -}}
{{- $embedded := eq $component "embedded" -}}
{{- $serves := or $isRole $embedded -}}
{{- $facts := index (include "sluice.roles" $root | fromYaml) $component | default dict -}}
{{- $placement := include "sluice.placement" . | fromYaml -}}
{{- $settings := dict "resources" $values.configuration.resources "env" list "envFrom" list -}}
{{- if $isRole -}}{{- $settings = index $values.roles $component -}}{{- end -}}
{{- if $embedded -}}{{- $settings = $values.embedded -}}{{- end -}}
{{- $readsConfiguration := or $embedded (eq $component "configuration") -}}
{{- $workspaces := and (or $facts.workspaces $embedded) $values.workspaces.existingClaim -}}
{{- $own := (include "sluice.ownMounts" . | fromYaml).mounts -}}
metadata:
  labels:
    {{- toYaml (merge (include "sluice.labels" . | fromYaml) ($placement.labels | default dict)) | nindent 4 }}
  annotations:
    checksum/environment: {{ include "sluice.environment" $root | sha256sum | trunc 16 }}
    {{- if $readsConfiguration }}
    checksum/configuration: {{ include "sluice.configurationData" $root | sha256sum | trunc 16 }}
    {{- end }}
    {{- if and $serves $values.monitoring.scrapeAnnotations }}
    prometheus.io/scrape: 'true'
    prometheus.io/port: '8090'
    prometheus.io/path: /metrics
    {{- end }}
    {{- with $placement.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "sluice.serviceAccount" . }}
  automountServiceAccountToken: false
  # Kubernetes would put variables of its own beside ours.
  enableServiceLinks: false
  {{- if $serves }}
  # Longer than the drain time: a stop lets running work end.
  terminationGracePeriodSeconds: {{ add $values.drainSeconds 20 }}
  {{- end }}
  {{- if eq $component "configuration" }}
  restartPolicy: OnFailure
  {{- else if eq $component "test" }}
  restartPolicy: Never
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - { name: {{ . }} }
    {{- end }}
  {{- end }}
  {{- with $placement.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $placement.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $placement.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $placement.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if $isRole }}
  topologySpreadConstraints:
    {{- range $placement.spread }}
    - maxSkew: 1
      topologyKey: {{ .topologyKey }}
      whenUnsatisfiable: {{ .whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "sluice.selectorLabels" (list $root $component) | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: sluice
      image: {{ include "sluice.image" $root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      {{- if $isRole }}
      args: [serve, --role, {{ $component }}]
      {{- else if $embedded }}
      args: [start]
      {{- else if eq $component "configuration" }}
      args: [config, apply, /etc/sluice/sluice.yaml]
      {{- else if eq $values.mode "embedded" }}
      # The log is the one pod's alone, and without an identity it takes questions from its own machine alone: so look whether it is ready.
      command: [node, -e]
      args: ['fetch(process.argv[1]).then(async (r) => { console.log(await r.text()); process.exitCode = r.ok ? 0 : 1; })', 'http://{{ include "sluice.fullname" $root }}:8090/health/ready']
      {{- else }}
      args: [ask, {{ $values.tests.question | quote }}, --group, {{ $values.tests.groups | quote }}]
      {{- end }}
      envFrom:
        - configMapRef: { name: {{ include "sluice.fullname" $root }}-environment }
        {{- if and $values.content.credentialsSecret (or $facts.content $embedded) }}
        - secretRef: { name: {{ $values.content.credentialsSecret }} }
        {{- end }}
        {{- with $settings.envFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with concat (include "sluice.variables" . | fromYamlArray) $settings.env }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if $serves }}
      ports:
        - { name: http, containerPort: 8090 }
        {{- range $role, $of := include "sluice.roles" $root | fromYaml }}
        {{- if and $of.port (or $embedded (eq $role $component)) }}
        - { name: {{ $role }}, containerPort: {{ $of.port }} }
        {{- end }}
        {{- end }}
      {{- if or $embedded $facts.port }}
      # The pod gets SIGTERM before all have heard that it takes no new requests: those that still come are answered.
      lifecycle: { preStop: { sleep: { seconds: 5 } } }
      {{- end }}
      startupProbe:
        httpGet: { path: /health/live, port: http }
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /health/live, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /health/ready, port: http }
        periodSeconds: 5
        timeoutSeconds: 8
      {{- end }}
      resources:
        {{- toYaml $settings.resources | nindent 8 }}
      securityContext:
        {{- include "sluice.securityContext" $root | nindent 8 }}
      volumeMounts:
        {{- range $name, $_ := include "sluice.secrets" . | fromYaml }}
        - { name: secret-{{ $name }}, mountPath: /run/sluice/{{ $name }}, readOnly: true }
        {{- end }}
        {{- if $readsConfiguration }}
        - { name: configuration, mountPath: /etc/sluice, readOnly: true }
        {{- end }}
        - { name: scratch, mountPath: /tmp }
        - { name: {{ if $embedded }}data{{ else if $facts.lists }}lists{{ else }}scratch{{ end }}, mountPath: /var/lib/sluice }
        {{- if $workspaces }}
        - { name: workspaces, mountPath: /var/lib/sluice-workspaces }
        {{- end }}
        {{- range $own }}
        - { name: own-{{ .name }}, mountPath: {{ .path | quote }}, readOnly: {{ not .writable }} }
        {{- end }}
  volumes:
    {{- range $name, $secret := include "sluice.secrets" . | fromYaml }}
    - name: secret-{{ $name }}
      secret: { secretName: {{ $secret }}, defaultMode: 288 } # 0440
    {{- end }}
    {{- if $readsConfiguration }}
    - name: configuration
      configMap: { name: {{ include "sluice.configurationMap" $root }} }
    {{- end }}
    - name: scratch
      emptyDir: { sizeLimit: 256Mi }
    {{- if $facts.lists }}
    # About 2 KB a run where there is no database for it; it is made from the log again where it is gone.
    - name: lists
      emptyDir: { sizeLimit: 4Gi }
    {{- end }}
    {{- if $workspaces }}
    - name: workspaces
      persistentVolumeClaim: { claimName: {{ $values.workspaces.existingClaim }} }
    {{- end }}
    {{- if $embedded }}
    {{- if not $values.embedded.persistence.enabled }}
    - name: data
      emptyDir: {}
    {{- else if $values.embedded.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim: { claimName: {{ $values.embedded.persistence.existingClaim }} }
    {{- end }}
    {{- end }}
    {{- range $own }}
    - name: own-{{ .name }}
      {{- if .configMap }}
      configMap: { name: {{ .configMap }} }
      {{- else if .secret }}
      secret: { secretName: {{ .secret }}, defaultMode: 288 } # 0440
      {{- else }}
      persistentVolumeClaim: { claimName: {{ .claim }} }
      {{- end }}
    {{- end }}
{{- end }}

{{- define "sluice.serviceAccount" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.serviceAccounts.create -}}
{{- include "sluice.fullname" $root }}-{{ index . 1 }}
{{- else -}}
{{- $root.Values.serviceAccounts.name | default "default" -}}
{{- end -}}
{{- end }}

{{/* What the configuration's folder holds. */}}
{{- define "sluice.configurationData" -}}
{{- if not .Values.configuration.existingConfigMap -}}
{{- $data := dict "sluice.yaml" (include "sluice.configuration" .) -}}
{{- toYaml (merge $data .Values.configuration.files) -}}
{{- end -}}
{{- end }}

{{/* The components that have pods. */}}
{{- define "sluice.components" -}}
{{- if eq .Values.mode "kafka" -}}
{{ include "sluice.enabledRoles" . }}{{ if .Values.configuration.apply }},configuration{{ end }}{{ if .Values.tests.enabled }},test{{ end }}
{{- else -}}
embedded{{ if .Values.tests.enabled }},test{{ end }}
{{- end -}}
{{- end }}
