"""Inside a box: listen on a port of its own, pass on to a socket file, and run a program.

Run as `python forwarding.py PORT FILE PROGRAM...`, with nothing but the standard library at hand.
Ends as the program ends.
"""

import os
import select
import socket
import subprocess
import sys
import threading

PIECE = 1 << 16


def main() -> int:
    """Listen, then run the program; its exit status, 128 + n for signal n."""
    port, file, program = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    server = socket.create_server(("127.0.0.1", port))
    threading.Thread(target=accept, args=(server, file), daemon=True).start()
    try:
        code = subprocess.run(program, check=False).returncode
    except OSError as error:
        print(f"{program[0]}: {error.strerror}", file=sys.stderr)
        code = 127
    return code if code >= 0 else 128 - code


def accept(server: socket.socket, file: str) -> None:
    """Each connection in a thread of its own."""
    while True:
        client, _ = server.accept()
        threading.Thread(target=serve, args=(client, file), daemon=True).start()


def serve(client: socket.socket, file: str) -> None:
    """Pass bytes both ways until both sides have said all."""
    with client, socket.socket(socket.AF_UNIX) as outer:
        try:
            outer.connect(file)
            onward = {client: outer, outer: client}
            while onward:
                for source in select.select(list(onward), [], [])[0]:
                    piece = source.recv(PIECE)
                    if piece:
                        onward[source].sendall(piece)
                    else:
                        onward.pop(source).shutdown(socket.SHUT_WR)
        except OSError:
            return


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
