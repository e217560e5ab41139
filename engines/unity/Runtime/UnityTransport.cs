#if UNITY_5_3_OR_NEWER
using System;
using System.Text;
using UnityEngine.Networking;

namespace Muster
{
    /// A transport with UnityWebRequest, which works in WebGL too. Call it from Unity's main thread.
    public sealed class UnityTransport : ITransport
    {
        public Action Send(Request request, Action<Response> done)
        {
            var sent = new UnityWebRequest(request.Url, request.Method);
            sent.downloadHandler = new DownloadHandlerBuffer();
            // Rounded up to whole seconds, because 0 would mean no timeout.
            sent.timeout = (request.TimeoutMs + 999) / 1000;
            // Unity may send the token to the target of a redirect, even at another host.
            sent.redirectLimit = 0;
            if (request.Token != null) sent.SetRequestHeader("Authorization", "Bearer " + request.Token);
            if (request.Body != null)
            {
                sent.uploadHandler = new UploadHandlerRaw(Encoding.UTF8.GetBytes(request.Body));
                sent.SetRequestHeader("Content-Type", "application/json");
            }
            var isOver = false;
            sent.SendWebRequest().completed += _ =>
            {
                isOver = true;
                done(new Response
                {
                    Status = (int)sent.responseCode,
                    Body = sent.downloadHandler.text ?? "",
                    RetryAfter = sent.GetResponseHeader("Retry-After"),
                    Date = sent.GetResponseHeader("Date"),
                });
                sent.Dispose();
            };
            return () =>
            {
                if (!isOver) sent.Abort();
            };
        }
    }
}
#endif
