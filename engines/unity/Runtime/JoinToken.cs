using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace Muster
{
    /// Verifies the join tokens of players who connect. The tokens are signed with HS256 (docs/servers.md, Who
    /// connects?).
    sealed class JoinToken
    {
        public string Alg;
        public byte[] Key;
        /// Id of the server, which is the audience of its tokens.
        public string Server;

        /// Verifies a token with the server's algorithm, whatever the token's header says. `EdDSA` tokens are
        /// refused.
        /// @param now epoch milliseconds by Muster's clock
        /// @returns why the token is refused (`malformed`, `forged`, `other-server` or `expired`); null if it is
        /// valid
        public string Read(string token, double now, out object claims)
        {
            claims = null;
            var parts = (token ?? "").Split('.');
            if (parts.Length != 3 || !parts.All(IsBase64Url) || token.Length > 2048) return "malformed";
            if (Alg == null || Json.TextAt(ObjectIn(parts[0]), "alg") != Alg) return "malformed";
            if (Alg != "HS256") return "forged";
            using (var hmac = new HMACSHA256(Key))
            {
                var wanted = hmac.ComputeHash(Encoding.UTF8.GetBytes(parts[0] + "." + parts[1]));
                if (!AreSame(wanted, FromBase64Url(parts[2]))) return "forged";
            }
            var read = ObjectIn(parts[1]);
            if (!Shapes.Fits("claims", read)) return "malformed";
            if (Json.TextAt(read, "aud") != Server) return "other-server";
            if (Json.NumberAt(read, "exp") * 1000 <= now) return "expired";
            claims = read;
            return null;
        }

        /// Returns a sentence about a player who is not admitted. It contains no part of the token.
        public static string SentenceOf(string refused)
        {
            switch (refused)
            {
                case "malformed": return "Not a valid join token.";
                case "forged": return "The join token was signed by another key.";
                case "expired": return "The join token has expired. Get a new one with GET /me.";
                case "other-server": return "The join token is for another server.";
                case "used": return "The join token was used before. Get a new one with GET /me.";
                default: return "The join token is for a match or a seat that this server does not have.";
            }
        }

        /// @returns null if the text is not base64url
        public static byte[] FromBase64Url(string text)
        {
            var padded = (text ?? "").Replace('-', '+').Replace('_', '/');
            try
            {
                return Convert.FromBase64String(padded + new string('=', (4 - padded.Length % 4) % 4));
            }
            catch (FormatException)
            {
                return new byte[0];
            }
        }

        static bool IsBase64Url(string text) =>
            text != "" && text.Length % 4 != 1 && text.All(one =>
                (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') ||
                one == '-' || one == '_');

        static object ObjectIn(string part) => Json.Parse(Encoding.UTF8.GetString(FromBase64Url(part)));

        /// Takes the same time wherever the bytes differ.
        static bool AreSame(byte[] one, byte[] other)
        {
            if (one.Length != other.Length) return false;
            var difference = 0;
            for (var i = 0; i < one.Length; i++) difference |= one[i] ^ other[i];
            return difference == 0;
        }
    }
}
