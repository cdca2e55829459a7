import asyncio


async def double(n):
    await asyncio.sleep(0)
    return n * 2


async def main():
    print(*await asyncio.gather(double(int(input()))))


asyncio.run(main())
