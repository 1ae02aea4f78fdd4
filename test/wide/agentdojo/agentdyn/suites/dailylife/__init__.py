from agentdojo.default_suites.v1.dailylife.injection_tasks import DailyLifeInjectionTask  # noqa: F401 - Register tasks
from agentdojo.default_suites.v1.dailylife.task_suite import task_suite as dailylife_task_suite
from agentdojo.default_suites.v1.dailylife.user_tasks import DailyLifeUserTask  # noqa: F401 - Register tasks

__all__ = ["dailylife_task_suite"]
