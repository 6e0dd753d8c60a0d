"""Runs the queries of a folder over a dataset, by DuckDB or by Spark SQL, and prints their rows as JSON.

usage: engines.py duckdb|spark DATASET QUERIES
"""

import atexit
import json
import math
import pathlib
import shutil
import sys


def duckdb_rows(dataset):
    import duckdb

    connection = duckdb.connect()
    for table, folders in tables(dataset).items():
        types = ", ".join(f"'{name}': VARCHAR" for name in folders)
        connection.execute(
            f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{dataset}/{table}/**/*.parquet', "
            f"hive_partitioning = true, hive_types = {{{types}}})"
        )

    def rows(sql):
        found = connection.execute(sql)
        names = [column[0] for column in found.description]
        return names, [list(row) for row in found.fetchall()]

    return rows


def own_snappy():
    """A folder with the library of Snappy for glibc: where musl is installed as well, Spark takes the one for musl."""
    import platform
    import pyspark
    import tempfile
    import zipfile

    jars = pathlib.Path(pyspark.__file__).parent / "jars"
    member = f"org/xerial/snappy/native/Linux/{platform.machine()}/libsnappyjava.so"
    folder = tempfile.mkdtemp(prefix="snappy-")
    with zipfile.ZipFile(next(jars.glob("snappy-java-*.jar"))) as jar:
        (pathlib.Path(folder) / "libsnappyjava.so").write_bytes(jar.read(member))
    return folder


def spark_rows(dataset):
    from pyspark.sql import SparkSession

    snappy = own_snappy()
    atexit.register(shutil.rmtree, snappy, ignore_errors=True)
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.ui.enabled", "false")
        .config(
            "spark.driver.extraJavaOptions",
            f"-Dorg.xerial.snappy.lib.path={snappy} -Dorg.xerial.snappy.lib.name=libsnappyjava.so",
        )
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    for table in tables(dataset):
        session.read.parquet(f"{dataset}/{table}").createOrReplaceTempView(table)

    def rows(sql):
        found = session.sql(sql)
        return found.columns, [list(row) for row in found.collect()]

    return rows


def tables(dataset):
    """The tables, with the columns that are names of folders."""
    dataset = pathlib.Path(dataset)
    schema = json.loads((dataset / "_schema.json").read_text())
    of_runs = [name for name in schema["tables_of_runs"] if (dataset / name).is_dir()]
    return {name: ["run", "host", "rank"] for name in schema["tables"]} | {name: ["run", "host"] for name in of_runs}


def plain(cell):
    """A cell as JSON has it: sums of whole numbers are wider than 64 bits in some engines, or decimal."""
    if cell is None or isinstance(cell, (str, bool, int)):
        return cell
    number = float(cell)
    return None if math.isnan(number) else number


def main():
    engine, dataset, queries = sys.argv[1:]
    rows = {"duckdb": duckdb_rows, "spark": spark_rows}[engine](dataset)
    answers = {}
    for path in sorted(pathlib.Path(queries).glob("*.sql")):
        columns, found = rows(path.read_text())
        answers[path.stem] = {
            "columns": list(columns),
            "rows": [[plain(cell) for cell in row] for row in found],
        }
    print(json.dumps(answers))


main()
