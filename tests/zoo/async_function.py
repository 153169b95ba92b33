# Is a coroutine function: a call gives a coroutine and no result.


async def double(x):
    return x * 2
