using System;
using System.IO;
using System.Net;
using System.Text;
using System.Threading;

namespace Muster
{
    /// A transport by HttpWebRequest: for servers and tools without an engine. Each request waits on a thread of its
    /// own.
    public sealed class HttpTransport : ITransport
    {
        static HttpTransport()
        {
            // A long poll holds a connection, and the default is two to a host.
            if (ServicePointManager.DefaultConnectionLimit < 16) ServicePointManager.DefaultConnectionLimit = 16;
        }

        public Action Send(Request request, Action<Response> done)
        {
            var sent = WebRequest.CreateHttp(request.Url);
            sent.Method = request.Method;
            sent.Timeout = request.TimeoutMs;
            sent.ReadWriteTimeout = request.TimeoutMs;
            if (request.Token != null) sent.Headers["Authorization"] = "Bearer " + request.Token;
            var thread = new Thread(() => done(Answer(sent, request.Body))) { IsBackground = true };
            thread.Start();
            return sent.Abort;
        }

        static Response Answer(HttpWebRequest sent, string body)
        {
            try
            {
                using (var answer = Got(sent, body)) return answer == null ? new Response() : Read(answer);
            }
            catch (Exception)
            {
                // Half an answer, also of a refusal, or one that was aborted.
                return new Response();
            }
        }

        /// The answer, or the refusal; null if none came.
        static HttpWebResponse Got(HttpWebRequest sent, string body)
        {
            try
            {
                if (body != null)
                {
                    var bytes = Encoding.UTF8.GetBytes(body);
                    sent.ContentType = "application/json";
                    sent.ContentLength = bytes.Length;
                    using (var stream = sent.GetRequestStream()) stream.Write(bytes, 0, bytes.Length);
                }
                // Proxies may refuse a POST without Content-Length.
                else if (sent.Method == "POST") sent.ContentLength = 0;
                return (HttpWebResponse)sent.GetResponse();
            }
            catch (WebException refusal)
            {
                return refusal.Response as HttpWebResponse;
            }
        }

        static Response Read(HttpWebResponse answer)
        {
            using (var reader = new StreamReader(answer.GetResponseStream(), Encoding.UTF8))
                return new Response
                {
                    Status = (int)answer.StatusCode,
                    Body = reader.ReadToEnd(),
                    RetryAfter = answer.Headers["Retry-After"],
                    Date = answer.Headers["Date"],
                };
        }
    }
}
