# A session of an assistant with the client of the protocol's authors: finds the slow step of a recording.
# Arguments: the command, the folder of the recordings.
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command, folder):
    server = StdioServerParameters(command=command, args=["mcp", folder])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        print("tools:", " ".join(sorted(tool.name for tool in tools.tools)))

        async def ask(name, **parameters):
            result = await session.call_tool(name, parameters)
            return "".join(part.text for part in result.content)

        listed = await ask("recordings")
        file = listed.split()[0]
        print("file:", file)
        print("overview:", "calls" in await ask("overview", file=file))
        print("slow step:", "step 7" in await ask("steps", file=file))
        print("timeline:", "memset" in await ask("timeline", file=file, range="step 7"))
        outside = await session.call_tool("check", {"file": "../outside.atrace"})
        print("outside:", getattr(outside, "isError", None) or getattr(outside, "is_error", None))


asyncio.run(main(*sys.argv[1:]))
