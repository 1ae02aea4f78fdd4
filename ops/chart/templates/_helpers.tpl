{{/*
What the chart knows of each role of `sluice serve`. `lag`: a consumer group shares its partitions, so it scales by lag.
`port`: it takes requests there. `contentKeys`: it reads no content, but what else is sealed with these keys. The others
say what it reads beside the keys and the database.
*/}}
{{- define "sluice.roles" -}}
filter: { lag: true, web: true }
agent: { lag: true, web: true, model: true, content: true }
executor: { lag: true, web: true, model: true, workspaces: true, content: true }
audit: { lag: true }
gateway: { port: 8091, web: true, localSecret: true, lists: true, content: true }
proxy: { port: 8092, web: true, sealingKey: true }
mcp: { port: 8093, web: true, localSecret: true, content: true }
notifier: { lag: true, web: true, contentKeys: true }
{{- end }}

{{/* The roles that run, a comma between: those that are enabled on Kafka, else none but the one pod. */}}
{{- define "sluice.enabledRoles" -}}
{{- $enabled := list -}}
{{- range $role, $_ := include "sluice.roles" . | fromYaml -}}
{{- if (index $.Values.roles $role).enabled -}}{{- $enabled = append $enabled $role -}}{{- end -}}
{{- end -}}
{{- if eq .Values.mode "kafka" -}}{{- join "," $enabled -}}{{- end -}}
{{- end }}

{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Leaves room for the longest suffix, that of the job. */}}
{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "sluice.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sluice.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* A list of the context and the component, as for all that follow. */}}
{{- define "sluice.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "sluice.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- with index . 1 }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{/* Nothing replaces the labels by which pods are found. */}}
{{- define "sluice.labels" -}}
{{- $root := index . 0 -}}
{{- $own := include "sluice.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" $root.Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") -}}
{{- toYaml (merge $own $root.Values.commonLabels) -}}
{{- end }}

{{- define "sluice.metadata" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
name: {{ include "sluice.fullname" $root }}{{ with $component }}-{{ . }}{{ end }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "sluice.labels" . | nindent 2 }}
{{- end }}

{{- define "sluice.image" -}}
{{- $image := .Values.image -}}
{{- $name := required "Set image.repository to where the image is: docs/install.md says how it is built." $image.repository -}}
{{- if $image.digest -}}{{ $name }}@{{ $image.digest }}{{- else -}}{{ $name }}:{{ $image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end }}

{{/* The configuration's text: the one that is given, else the sample. */}}
{{- define "sluice.configuration" -}}
{{- if .Values.configuration.content -}}
{{- .Values.configuration.content -}}
{{- else -}}
{{- required "This chart has no sample configuration, so it was not packed. Run `npm run chart` and install dist/chart/sluice, or set configuration.content." (.Files.Get "files/sluice.yaml") -}}
{{- end -}}
{{- end }}

{{- define "sluice.configurationMap" -}}
{{- .Values.configuration.existingConfigMap | default (printf "%s-configuration" (include "sluice.fullname" .)) -}}
{{- end }}

{{/* The variables that are no secrets, for all pods. */}}
{{- define "sluice.environment" -}}
SLUICE_BUS: {{ if eq .Values.mode "kafka" }}kafka{{ else }}sqlite{{ end }}
SLUICE_DATA: /var/lib/sluice
SLUICE_LOG_LEVEL: {{ .Values.logLevel }}
SLUICE_DRAIN_SECONDS: {{ .Values.drainSeconds | quote }}
{{- with .Values.traces.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
{{- end }}
{{- if eq .Values.mode "kafka" }}
{{- with .Values.kafka }}
KAFKA_BROKERS: {{ join "," .brokers | quote }}
SLUICE_PARTITIONS: {{ .partitions | quote }}
SLUICE_REPLICATION: {{ .replication | quote }}
{{- with .prefix }}
SLUICE_PREFIX: {{ . | quote }}
{{- end }}
{{- if .tls.enabled }}
KAFKA_TLS: 'true'
{{- if .tls.ownAuthority }}
KAFKA_TLS_CA: /run/sluice/kafka/{{ .secretKeys.authority }}
{{- end }}
{{- if .tls.clientCertificate }}
KAFKA_TLS_CERT: /run/sluice/kafka/{{ .secretKeys.certificate }}
KAFKA_TLS_KEY: /run/sluice/kafka/{{ .secretKeys.key }}
{{- end }}
{{- end }}
{{- with .sasl }}
{{- if ne .mechanism "none" }}
KAFKA_SASL_MECHANISM: {{ .mechanism }}
{{- end }}
{{- if has .mechanism (list "plain" "scram-sha-256" "scram-sha-512") }}
KAFKA_SASL_PASSWORD_FILE: /run/sluice/kafka/{{ $.Values.kafka.secretKeys.password }}
{{- end }}
{{- if eq .mechanism "oauthbearer" }}
KAFKA_OAUTH_TOKEN_URL: {{ .oauth.tokenUrl | quote }}
KAFKA_OAUTH_CLIENT_SECRET_FILE: /run/sluice/kafka/{{ $.Values.kafka.secretKeys.clientSecret }}
{{- with .oauth.scope }}
KAFKA_OAUTH_SCOPE: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.registry }}
SCHEMA_REGISTRY_URL: {{ .url | quote }}
{{- with .username }}
SCHEMA_REGISTRY_USERNAME: {{ . | quote }}
SCHEMA_REGISTRY_PASSWORD_FILE: /run/sluice/registry/{{ $.Values.registry.secretKeys.password }}
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.environment }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}
