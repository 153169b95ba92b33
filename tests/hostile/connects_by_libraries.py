# Uses what libraries offer for going out.


def double(x):
    tcp = "{TCP}"

    def fetch():
        import urllib.request

        urllib.request.urlopen(f"http://127.0.0.1:{tcp}/", timeout=0.2)

    def store():
        import datetime

        import torch.distributed

        torch.distributed.TCPStore("127.0.0.1", int(tcp), is_master=False, timeout=datetime.timedelta(seconds=0.2))

    def loop():
        import asyncio

        asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", int(tcp)), 0.2))

    for way in (fetch, store, loop):
        attempt(way)
    return x * 2
