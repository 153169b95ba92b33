# Sends to servers on this machine and beyond, over every kind of socket.
# limits: single processes=2
import socket


def say(kind, style, address, protocol=0):
    with socket.socket(kind, style, protocol) as line:
        line.settimeout(0.2)
        attempt(line.sendto, b"hello", address)
        line.connect(address)
        line.sendall(b"hello")


def double(x):
    tcp, udp = int("{TCP}"), int("{UDP}")
    for host in ("127.0.0.1", "0.0.0.0", "127.1.2.3"):
        attempt(say, socket.AF_INET, socket.SOCK_STREAM, (host, tcp))
        attempt(say, socket.AF_INET, socket.SOCK_DGRAM, (host, udp))
    attempt(say, socket.AF_INET6, socket.SOCK_STREAM, ("::1", tcp))
    attempt(say, socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", tcp))
    for address in ("{UNIX}", "\0{ABSTRACT}"):
        for style in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            attempt(say, socket.AF_UNIX, style, address)
    for family in range(2, 46):
        for style in (1, 2, 3, 5):
            if (made := attempt(socket.socket, family, style)) is not None:
                claim(f"a socket of family {family}")
                made.close()
    return x * 2
