using System;
using System.Collections.Generic;
using System.IO;
using Muster;

/// Replays a transcript: `replay.exe client transcript.jsonl`. Prints how many lines were replayed.
static class Replay
{
    static int Main(string[] given)
    {
        IMachine machine = null;
        var outputs = new Queue<object>();
        var nth = 0;
        foreach (var text in File.ReadLines(given[1]))
        {
            nth += 1;
            var line = Json.Parse(text);
            var wanted = Json.At(line, "out");
            if (wanted != null)
            {
                var done = outputs.Count == 0 ? null : outputs.Dequeue();
                if (!Json.AreSame(done, wanted)) return Fault(nth, done, wanted);
                continue;
            }
            if (outputs.Count > 0) return Fault(nth, outputs.Peek(), null);
            if (Json.TextAt(line, "session") != null) machine = new Machine(() => 0.5);
            else
                foreach (var output in machine.Step(Json.At(line, "in"), Json.NumberAt(line, "at")))
                    outputs.Enqueue(output);
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
