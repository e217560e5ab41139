using System;
using System.Collections.Generic;
using System.IO;
using Muster;

/// Replays a transcript: `replay.exe client transcript.jsonl`, or `replay.exe server server-transcript.jsonl`. Prints
/// the number of replayed lines. A server wakes up by itself between the lines, which do not contain that.
static class Replay
{
    static int Main(string[] given)
    {
        var wakesItself = given[0] == "server";
        IMachine machine = null;
        var outputs = new Queue<object>();
        double? wakeAt = null;
        Action<object, double> step = (input, now) =>
        {
            foreach (var output in machine.Step(input, now))
                if (wakesItself && output.ContainsKey("wakeAt")) wakeAt = output["wakeAt"] as double?;
                else outputs.Enqueue(output);
        };
        var nth = 0;
        foreach (var text in File.ReadLines(given[1]))
        {
            nth += 1;
            var line = Json.Parse(text);
            if (Json.TextAt(line, "session") != null)
            {
                if (outputs.Count > 0) return Fault(nth, outputs.Peek(), null);
                machine = wakesItself ? (IMachine)new ServerMachine(() => 0.5) : new Machine(() => 0.5);
                wakeAt = null;
                continue;
            }
            var at = Json.NumberAt(line, "at");
            while (wakeAt <= at && outputs.Count == 0) step(Json.Object("wake", true), wakeAt.Value);
            var wanted = Json.At(line, "out");
            if (wanted == null)
            {
                if (outputs.Count > 0) return Fault(nth, outputs.Peek(), null);
                step(Json.At(line, "in"), at);
                continue;
            }
            var done = outputs.Count == 0 ? null : outputs.Dequeue();
            if (!Json.AreSame(done, wanted)) return Fault(nth, done, wanted);
        }
        if (outputs.Count > 0) return Fault(nth, outputs.Peek(), null);
        Console.WriteLine(nth);
        return nth > 0 ? 0 : 1;
    }

    static int Fault(int nth, object done, object wanted)
    {
        Console.Error.WriteLine($"line {nth}: the machine did {Json.Write(done)}; wanted {Json.Write(wanted)}");
        return 1;
    }
}
