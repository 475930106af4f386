#!/usr/bin/env python3
"""Runs tasks_program at four places of two hosts: network namespaces with names of their own, joined by a cable.

  two_hosts_test.py MPIRUN PROGRAM

Exit status 77, with the reason, where namespaces cannot be made.
"""

import os
import shlex
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
HOSTS = ("filch-a", "filch-b")
ADDRESSES = ("10.213.77.1", "10.213.77.2")
WAYS = 16


def ip(*arguments):
    return subprocess.run(("ip",) + arguments, capture_output=True, text=True, check=False)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def make_hosts():
    for host in HOSTS:
        made = ip("netns", "add", host)
        if made.returncode != 0:
            skip(f"no network namespace can be made: {made.stderr.strip()}")
    cable = ("link", "add", "cable", "netns", HOSTS[0], "type", "veth", "peer", "name", "cable", "netns", HOSTS[1])
    made = ip(*cable)
    if made.returncode != 0:
        skip(f"no virtual cable can be made: {made.stderr.strip()}")
    for host, address in zip(HOSTS, ADDRESSES):
        for command in f"addr add {address}/24 dev cable", "link set cable up", "link set lo up":
            ip("-n", host, *command.split())


def remove_hosts():
    for host in HOSTS:
        ip("netns", "del", host)


def at(host, command):
    """What runs a shell command at a host, under that host's name."""
    named = f"hostname {host} && {command}"
    return ["ip", "netns", "exec", host, "unshare", "--uts", "sh", "-c", named]


def main(mpirun, program):
    if os.geteuid() != 0:
        skip("only root may make network namespaces")
    remove_hosts()  # of a run that was killed
    try:
        make_hosts()
        with tempfile.TemporaryDirectory() as folder:
            # Instead of ssh: AGENT ADDRESS COMMAND...
            agent = Path(folder) / "agent"
            elsewhere = shlex.join(at(HOSTS[1], 'exec sh -c "$*"') + ["agent"])
            agent.write_text(f"#!/bin/sh\nshift\nexec {elsewhere} \"$@\"\n")
            agent.chmod(stat.S_IRWXU)
            network = f"{ADDRESSES[0]}/24"
            command = [mpirun, "-n", "4", "--host", ",".join(f"{address}:2" for address in ADDRESSES), "--map-by", "node"]
            for name, value in {
                "plm": "rsh",
                "plm_rsh_agent": str(agent),
                "btl": "tcp,vader,self",
                "btl_tcp_if_include": network,
                "oob_tcp_if_include": network,
            }.items():
                command += ["--mca", name, value]
            command += ["sh", "-c", 'hostname >&2; exec "$@"', "sh", program, "0", "all", "messages", "rma"]
            job = subprocess.run(
                at(HOSTS[0], shlex.join(command)), capture_output=True, text=True, timeout=100, check=False
            )
    finally:
        remove_hosts()
    names = sorted(job.stderr.split())  # each place has said where it is
    if (job.returncode, job.stdout, names) != (0, f"{WAYS} ways at 4 places\n", sorted(HOSTS * 2)):
        sys.exit(f"status {job.returncode}\n{job.stdout}\n{job.stderr}")


if __name__ == "__main__":
    main(*sys.argv[1:])
