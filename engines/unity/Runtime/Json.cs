using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Muster
{
    /// JSON as Muster writes it. A value is null, a bool, a double, a string, a List&lt;object&gt; or a
    /// Dictionary&lt;string, object&gt;.
    public static class Json
    {
        /// Creates an object from names and values by turns.
        public static Dictionary<string, object> Object(params object[] namesAndValues)
        {
            var made = new Dictionary<string, object>();
            for (var i = 0; i + 1 < namesAndValues.Length; i += 2)
                made[(string)namesAndValues[i]] = namesAndValues[i + 1];
            return made;
        }

        /// Returns a member of an object; null if it is missing.
        public static object At(object value, string name)
        {
            object found = null;
            (value as Dictionary<string, object>)?.TryGetValue(name, out found);
            return found;
        }
        public static string TextAt(object value, string name) => At(value, name) as string;
        public static double NumberAt(object value, string name) => At(value, name) is double number ? number : 0;
        public static bool IsTrueAt(object value, string name) => At(value, name) is bool isTrue && isTrue;
        /// Returns the items of an array; an empty list if it is missing.
        public static IReadOnlyList<object> ItemsAt(object value, string name) =>
            At(value, name) as List<object> ?? new List<object>();

        public static bool AreSame(object one, object other)
        {
            if (one is Dictionary<string, object> members && other is Dictionary<string, object> others)
            {
                if (members.Count != others.Count) return false;
                foreach (var member in members)
                    if (!others.TryGetValue(member.Key, out var found) || !AreSame(member.Value, found)) return false;
                return true;
            }
            if (one is List<object> items && other is List<object> otherItems)
            {
                if (items.Count != otherItems.Count) return false;
                for (var i = 0; i < items.Count; i++)
                    if (!AreSame(items[i], otherItems[i])) return false;
                return true;
            }
            return Equals(one, other);
        }

        /// @returns null if the text is not JSON, or is `null`
        public static object Parse(string text)
        {
            var reader = new Reader(text ?? "");
            return reader.TryWhole(out var value) ? value : null;
        }

        /// Writes numbers of any type, strings, dictionaries with string keys, and lists.
        /// @throws ArgumentException for any other value
        public static string Write(object value)
        {
            var text = new StringBuilder();
            Write(text, value);
            return text.ToString();
        }

        static void Write(StringBuilder text, object value)
        {
            if (value == null) text.Append("null");
            else if (value is string) WriteText(text, (string)value);
            else if (value is bool) text.Append((bool)value ? "true" : "false");
            else if (value is IDictionary) WriteMembers(text, (IDictionary)value);
            else if (value is IEnumerable) WriteItems(text, (IEnumerable)value);
            else if (value is IConvertible)
                text.Append(Convert.ToDouble(value).ToString("R", CultureInfo.InvariantCulture));
            else throw new ArgumentException("cannot be written as JSON: " + value.GetType());
        }

        static void WriteMembers(StringBuilder text, IDictionary members)
        {
            var before = '{';
            foreach (DictionaryEntry member in members)
            {
                text.Append(before);
                WriteText(text, (string)member.Key);
                text.Append(':');
                Write(text, member.Value);
                before = ',';
            }
            text.Append(members.Count == 0 ? "{}" : "}");
        }

        static void WriteItems(StringBuilder text, IEnumerable items)
        {
            var before = "";
            text.Append('[');
            foreach (var item in items)
            {
                text.Append(before);
                Write(text, item);
                before = ",";
            }
            text.Append(']');
        }

        static void WriteText(StringBuilder text, string said)
        {
            text.Append('"');
            foreach (var one in said)
                if (one == '"' || one == '\\') text.Append('\\').Append(one);
                else if (one < ' ') text.Append("\\u").Append(((int)one).ToString("x4"));
                else text.Append(one);
            text.Append('"');
        }

        /// Parses one JSON text with a nesting depth of at most 64.
        sealed class Reader
        {
            readonly string text;
            int at;

            public Reader(string text)
            {
                this.text = text;
            }

            public bool TryWhole(out object value)
            {
                if (!TryValue(0, out value)) return false;
                Skip();
                return at == text.Length;
            }

            void Skip()
            {
                while (at < text.Length && " \n\r\t".IndexOf(text[at]) >= 0) at++;
            }
            bool Take(char wanted)
            {
                Skip();
                if (at >= text.Length || text[at] != wanted) return false;
                at++;
                return true;
            }
            bool Word(string wanted)
            {
                if (string.CompareOrdinal(text, at, wanted, 0, wanted.Length) != 0) return false;
                at += wanted.Length;
                return true;
            }

            bool TryValue(int depth, out object value)
            {
                value = null;
                Skip();
                if (at >= text.Length || depth > 64) return false;
                if (Take('{')) return TryObject(depth, out value);
                if (Take('[')) return TryArray(depth, out value);
                if (text[at] == '"')
                {
                    var isText = TryText(out var said);
                    value = said;
                    return isText;
                }
                if (Word("null")) return true;
                var isTrue = Word("true");
                if (isTrue || Word("false"))
                {
                    value = isTrue;
                    return true;
                }
                return TryNumber(out value);
            }

            bool TryObject(int depth, out object value)
            {
                var made = new Dictionary<string, object>();
                value = made;
                if (Take('}')) return true;
                do
                {
                    Skip();
                    if (!TryText(out var name) || !Take(':') || !TryValue(depth + 1, out var member)) return false;
                    made[name] = member;
                } while (Take(','));
                return Take('}');
            }

            bool TryArray(int depth, out object value)
            {
                var made = new List<object>();
                value = made;
                if (Take(']')) return true;
                do
                {
                    if (!TryValue(depth + 1, out var item)) return false;
                    made.Add(item);
                } while (Take(','));
                return Take(']');
            }

            bool TryNumber(out object value)
            {
                var from = at;
                while (at < text.Length && "+-.0123456789eE".IndexOf(text[at]) >= 0) at++;
                var isNumber = double.TryParse(text.Substring(from, at - from), NumberStyles.Float,
                    CultureInfo.InvariantCulture, out var number);
                value = number;
                return isNumber;
            }

            bool TryText(out string said)
            {
                var made = new StringBuilder();
                said = null;
                if (at >= text.Length || text[at] != '"') return false;
                for (at++; at < text.Length; at++)
                {
                    if (text[at] == '"')
                    {
                        at++;
                        said = made.ToString();
                        return true;
                    }
                    if (text[at] != '\\')
                    {
                        made.Append(text[at]);
                        continue;
                    }
                    at++;
                    if (at >= text.Length) return false;
                    if (text[at] == 'u')
                    {
                        if (at + 4 >= text.Length) return false;
                        if (!ushort.TryParse(text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier,
                            CultureInfo.InvariantCulture, out var code)) return false;
                        made.Append((char)code);
                        at += 4;
                        continue;
                    }
                    var nth = "\"\\/bfnrt".IndexOf(text[at]);
                    if (nth < 0) return false;
                    made.Append("\"\\/\b\f\n\r\t"[nth]);
                }
                return false;
            }
        }
    }
}
