"""Reads RTT from the program `carriers` in QEMU, with the RTT reader of pyOCD.

The reader of pyOCD was written for debug probes, independently of this project. It finds the control block,
reads the channel and moves its index, while the program runs. Here, QEMU's debugger interface takes the place of
the probe. The bytes must be those that the program wrote by semihosting.

    python3 rtt.py PROGRAM.elf      (built with -DWAIT_FOR_DEBUGGER)
"""

import pathlib
import socket
import subprocess
import sys
import tempfile
import time

from pyocd.debug.rtt import RTTControlBlock

RAM, RAM_BYTES = 0x20000000, 0x10000


class Target:
    """The functions of a target that pyOCD's reader calls, by GDB's remote protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.bytes = self.socket.makefile("rb")

    def send(self, text):
        self.socket.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) % 256))

    def answer(self):
        while (byte := self.bytes.read(1)) != b"$":
            if not byte:
                raise EOFError
        text = b""
        while (byte := self.bytes.read(1)) != b"#":
            text += byte
        self.bytes.read(2)
        self.socket.sendall(b"+")
        return text.decode()

    def ask(self, text):
        self.send(text)
        return self.answer()

    def run(self, seconds):
        """Continues the program for a time. Returns false if it has ended."""
        self.send("c")
        time.sleep(seconds)
        self.socket.sendall(b"\x03")
        return self.answer().startswith("T")

    def read_memory_block8(self, address, length):
        return list(bytes.fromhex(self.ask(f"m{address:x},{length:x}")))

    def read_memory_block32(self, address, words):
        block = bytes(self.read_memory_block8(address, 4 * words))
        return [int.from_bytes(block[at : at + 4], "little") for at in range(0, len(block), 4)]

    def read32(self, address):
        return self.read_memory_block32(address, 1)[0]

    def write32(self, address, value):
        if self.ask(f"M{address:x},4:{value.to_bytes(4, 'little').hex()}") != "OK":
            raise OSError(f"cannot write to {address:#x}")


def read(target):
    """Returns the bytes of channel 0 up to the end of the program."""
    target.run(0.2)  # The start-up code clears the memory, and the program makes the control block.
    block = RTTControlBlock.from_target(target, RAM, RAM_BYTES)
    block.start()
    channel = block.up_channels[0]
    print(f"channel 0 is '{channel.name}' with {channel.size} bytes; {len(block.up_channels)} up")
    found, pieces = b"", 0
    try:
        while True:
            piece = bytes(channel.read())
            found, pieces = found + piece, pieces + bool(piece)
            if not target.run(0.05):
                break
    except (EOFError, ConnectionError):
        pass
    print(f"read {len(found)} bytes in {pieces} pieces")
    return found


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/gdb"
        arguments = ["-M", "mps2-an385", "-kernel", program, "-display", "none", "-monitor", "none", "-serial", "none"]
        arguments += ["-semihosting-config", "enable=on,target=native", "-S", "-gdb", f"unix:{path},server=on,wait=off"]
        with subprocess.Popen(["timeout", "100", "qemu-system-arm", *arguments], cwd=folder) as board:
            while not pathlib.Path(path).exists() and board.poll() is None:
                time.sleep(0.01)
            found = read(Target(path))
        sent = pathlib.Path(folder, "host.bin").read_bytes()
    if not sent or found != sent:
        sys.exit(f"expected the {len(sent)} bytes that the program sent, found {len(found)} other bytes")
    print("the same bytes as by semihosting")


main(sys.argv[1])
