"""Ingest, refresh and report every hour, for Airflow 3 (in Airflow 2: ``from airflow
import DAG``, and ``from airflow.operators.bash import BashOperator``)."""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

FOLDER = "/srv/evals"  # with warehouse.toml

with DAG(
    dag_id="eval_warehouse",
    schedule="0 * * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # what was missed is one run
    max_active_runs=1,  # one job at a time
    default_args={"cwd": FOLDER, "retries": 2, "retry_delay": timedelta(minutes=5)},
) as dag:
    # Exit 3: a dump was refused. The others are in the store, so the refresh goes on.
    ingest = BashOperator(task_id="ingest", bash_command="warehouse ingest new/")
    # Exit 1: alerts. Not tried again: the second time there would be none.
    refresh = BashOperator(
        task_id="refresh",
        bash_command="warehouse --wait 300 refresh --alerts",
        trigger_rule="all_done",
        retries=0,
    )
    report = BashOperator(
        task_id="report",
        bash_command="warehouse report --out report.html",
        trigger_rule="all_done",
    )
    ingest >> refresh >> report
