using System;
using System.Collections.Generic;
using System.Globalization;

namespace Muster
{
    public sealed class Request
    {
        public string Method, Url;
        /// Null: none.
        public string Body, Token;
        /// Until an answer counts as lost.
        public int TimeoutMs;
    }

    /// Status 0: no answer came.
    public sealed class Response
    {
        public int Status;
        public string Body = "";
        /// The headers of these names; null if there are none.
        public string RetryAfter, Date;
    }

    /// Sends requests: UnityWebRequest in Unity, HttpWebRequest elsewhere, or your own.
    public interface ITransport
    {
        /// Sends a request. `done` is called once, on any thread.
        /// @returns what ends the request; `done` need not be called after it
        Action Send(Request request, Action<Response> done);
    }

    /// Carries out the requests of a machine: everything happens in Update, on the thread that calls it.
    sealed class Driver
    {
        /// Milliseconds until an answer counts as lost, beside the time for which it may be held.
        const int AnswerMs = 10000;

        readonly IMachine machine;
        readonly string url;
        readonly Func<string> token;
        readonly ITransport transport;
        readonly Func<Response, Dictionary<string, object>> read;
        readonly Queue<object> inputs = new Queue<object>();
        /// Of the machine, until they are carried out.
        readonly Queue<Dictionary<string, object>> outputs = new Queue<Dictionary<string, object>>();
        readonly Dictionary<double, Action> underWay = new Dictionary<double, Action>();
        double? wakeAt;
        bool isClosed;

        /// @param read reads an answer into what the machine is told of it, beside its number
        public Driver(IMachine machine, string url, Func<string> token, ITransport transport,
            Func<Response, Dictionary<string, object>> read)
        {
            this.machine = machine;
            this.url = url.TrimEnd('/');
            this.token = token;
            this.transport = transport;
            this.read = read;
        }

        public void Put(object input)
        {
            lock (inputs) inputs.Enqueue(input);
        }

        /// @param tell is told what is neither a request nor a time
        public void Update(double now, Action<Dictionary<string, object>> tell)
        {
            // What an earlier one has left, since a callback has thrown.
            CarryOutAll(tell);
            // First of all, since an answer may change when that is.
            if (wakeAt <= now && !isClosed) Step(Json.Object("wake", true), now, tell);
            // A callback may give a command while it is told.
            for (var input = Next(); input != null && !isClosed; input = Next())
            {
                if (Json.At(input, "answer") != null) underWay.Remove(Json.NumberAt(input, "answer"));
                Step(input, now, tell);
            }
        }

        /// Ends the requests. Nothing is sent or told after it, also if a callback has closed it.
        public void Close()
        {
            isClosed = true;
            foreach (var end in underWay.Values) end();
            underWay.Clear();
        }

        object Next()
        {
            lock (inputs) return inputs.Count == 0 ? null : inputs.Dequeue();
        }

        void Step(object input, double now, Action<Dictionary<string, object>> tell)
        {
            foreach (var output in machine.Step(input, now)) outputs.Enqueue(output);
            CarryOutAll(tell);
        }

        void CarryOutAll(Action<Dictionary<string, object>> tell)
        {
            while (outputs.Count > 0 && !isClosed) CarryOut(outputs.Dequeue(), tell);
        }

        void CarryOut(Dictionary<string, object> output, Action<Dictionary<string, object>> tell)
        {
            if (output.ContainsKey("request"))
            {
                var number = Json.NumberAt(output, "request");
                Action<Response> done = response =>
                {
                    var answer = read(response);
                    answer["answer"] = number;
                    Put(answer);
                };
                try
                {
                    underWay[number] = transport.Send(RequestOf(output), done);
                }
                catch (Exception)
                {
                    // The token or the transport has failed: the machine sends it again.
                    done(new Response());
                    throw;
                }
            }
            else if (output.ContainsKey("abort"))
            {
                Action end;
                if (!underWay.TryGetValue(Json.NumberAt(output, "abort"), out end)) return;
                underWay.Remove(Json.NumberAt(output, "abort"));
                end();
            }
            else if (output.ContainsKey("wakeAt")) wakeAt = output["wakeAt"] as double?;
            else tell(output);
        }

        Request RequestOf(Dictionary<string, object> output)
        {
            var body = Json.At(output, "body");
            return new Request
            {
                Method = Json.TextAt(output, "method"),
                Url = url + Json.TextAt(output, "path"),
                Body = body == null ? null : Json.Write(body),
                // A machine that has a token of its own says it.
                Token = Json.TextAt(output, "token") ?? (token == null ? null : token()),
                TimeoutMs = (int)Json.NumberAt(output, "waitMs") + AnswerMs,
            };
        }

        /// Milliseconds by the header `retry-after`; 0 if there is none.
        public static double RetryAfterMs(Response response)
        {
            double seconds;
            var isNumber = double.TryParse(response.RetryAfter, NumberStyles.Float, CultureInfo.InvariantCulture,
                out seconds);
            return isNumber && seconds > 0 ? seconds * 1000 : 0;
        }
    }
}
