// Plays once, as the client of docs/game-clients.md does, and tells what came of it.
using System;
using System.Threading.Tasks;

static class Program
{
    static async Task Play()
    {
        var reason = "";
        try
        {
            var assignment = await new Tickets("API", "ann").Play("duel", ticket =>
            {
                reason = (string)ticket["cancel_reason"] ?? "";
                Console.WriteLine("CHANGED\t" + ticket["status"]);
            });
            Console.WriteLine("ENDED\t" + (assignment == null ? "" : (string)assignment["fqdn"]) + "\t" + reason);
        }
        catch (TicketError error)
        {
            Console.WriteLine("ENDED\t\t" + error.Code);
        }
    }

    static void Main() => Play().Wait();
}
