// The few classes of the engine that the client of docs/game-clients.md uses. Requests go out by the standard output and
// come back by the standard input, a line each: the test sends them.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using int32 = int;
#define TEXT(text) text

struct FString
{
	std::string Text;
	FString() {}
	FString(const char* From) : Text(From) {}
	FString(const std::string& From) : Text(From) {}
	bool IsEmpty() const { return Text.empty(); }
	const char* operator*() const { return Text.c_str(); }
	bool operator==(const FString& Other) const { return Text == Other.Text; }
	bool operator!=(const FString& Other) const { return Text != Other.Text; }
	friend FString operator+(const FString& A, const FString& B) { return FString(A.Text + B.Text); }
	template <typename... Values>
	static FString Printf(const char* Format, Values... All)
	{
		char Buffer[4096];
		std::snprintf(Buffer, sizeof Buffer, Format, All...);
		return FString(Buffer);
	}
};
struct FCString
{
	static float Atof(const char* Text) { return static_cast<float>(std::atof(Text)); }
};

template <typename Type>
struct TSharedPtr : std::shared_ptr<Type>
{
	TSharedPtr() {}
	TSharedPtr(std::nullptr_t) {}
	TSharedPtr(const std::shared_ptr<Type>& From) : std::shared_ptr<Type>(From) {}
	bool IsValid() const { return this->get() != nullptr; }
};
template <typename Type, typename... Values>
TSharedPtr<Type> MakeShared(Values&&... All) { return TSharedPtr<Type>(std::make_shared<Type>(std::forward<Values>(All)...)); }
template <typename Type>
struct TSharedFromThis : std::enable_shared_from_this<Type>
{
	TSharedPtr<Type> AsShared() { return TSharedPtr<Type>(this->shared_from_this()); }
};
template <typename Signature> using TFunction = std::function<Signature>;
template <typename Type>
struct TArray : std::vector<Type>
{
	int32 Num() const { return static_cast<int32>(this->size()); }
};

struct FJsonObject;
struct FJsonValue
{
	FString Text;
	double Number = 0;
	bool bIsText = false;
	TSharedPtr<FJsonObject> Object;
	TArray<TSharedPtr<FJsonValue>> Array;
	TSharedPtr<FJsonObject> AsObject() const { return Object; }
};
struct FJsonObject
{
	std::map<std::string, TSharedPtr<FJsonValue>> Fields;
	TSharedPtr<FJsonValue> At(const FString& Name) const
	{
		const auto Found = Fields.find(Name.Text);
		if (Found != Fields.end()) return Found->second;
		std::fprintf(stderr, "there is no field %s\n", *Name);
		std::exit(3);
	}
	FString GetStringField(const FString& Name) const { return At(Name)->Text; }
	double GetNumberField(const FString& Name) const { return At(Name)->Number; }
	TSharedPtr<FJsonObject> GetObjectField(const FString& Name) const { return At(Name)->Object; }
	const TArray<TSharedPtr<FJsonValue>>& GetArrayField(const FString& Name) const { return At(Name)->Array; }
	bool TryGetStringField(const FString& Name, FString& Into) const
	{
		const auto Found = Fields.find(Name.Text);
		if (Found == Fields.end() || !Found->second->bIsText) return false;
		Into = Found->second->Text;
		return true;
	}
	bool TryGetObjectField(const FString& Name, const TSharedPtr<FJsonObject>*& Into) const
	{
		const auto Found = Fields.find(Name.Text);
		if (Found == Fields.end() || !Found->second->Object.IsValid()) return false;
		Into = &Found->second->Object;
		return true;
	}
};

/** JSON as the API writes it: without escapes in what the client reads. */
struct FJsonText
{
	std::string Text;
	size_t At = 0;
	char Next() { while (At < Text.size() && std::isspace(static_cast<unsigned char>(Text[At]))) At++; return At < Text.size() ? Text[At] : '\0'; }
	std::string Quoted()
	{
		std::string Found;
		for (At++; At < Text.size() && Text[At] != '"'; At++)
		{
			if (Text[At] == '\\') At++;
			Found += Text[At];
		}
		At++;
		return Found;
	}
	TSharedPtr<FJsonValue> Value()
	{
		auto Found = MakeShared<FJsonValue>();
		const char First = Next();
		if (First == '{')
		{
			Found->Object = MakeShared<FJsonObject>();
			for (At++; Next() == '"' || Next() == ',';)
			{
				if (Next() == ',') At++;
				Next();
				const std::string Name = Quoted();
				Next();
				At++;
				Found->Object->Fields[Name] = Value();
			}
			At++;
		}
		else if (First == '[')
		{
			for (At++; Next() != ']' && Next() != '\0';)
			{
				Found->Array.push_back(Value());
				if (Next() == ',') At++;
			}
			At++;
		}
		else if (First == '"')
		{
			Found->bIsText = true;
			Found->Text = FString(Quoted());
		}
		else
		{
			const size_t From = At;
			while (At < Text.size() && std::string(",]} \n").find(Text[At]) == std::string::npos) At++;
			Found->Number = std::atof(Text.substr(From, At - From).c_str());
		}
		return Found;
	}
};
template <typename Unused = void>
struct TJsonReaderFactory
{
	static TSharedPtr<FJsonText> Create(const FString& Text)
	{
		auto Reader = MakeShared<FJsonText>();
		Reader->Text = Text.Text;
		return Reader;
	}
};
struct FJsonSerializer
{
	static bool Deserialize(const TSharedPtr<FJsonText>& Reader, TSharedPtr<FJsonObject>& Into)
	{
		if (Reader->Next() != '{') return false;
		Into = Reader->Value()->Object;
		return true;
	}
};

/** What is to be done next, in order: the engine's loop. */
inline std::deque<std::function<void()>>& Due()
{
	static std::deque<std::function<void()>> All;
	return All;
}
inline void RunUntilIdle()
{
	while (!Due().empty())
	{
		const auto First = Due().front();
		Due().pop_front();
		First();
	}
}

struct IHttpResponse
{
	int32 Status = 0;
	std::string RetryAfter, Body;
	int32 GetResponseCode() const { return Status; }
	FString GetContentAsString() const { return FString(Body); }
	FString GetHeader(const FString&) const { return FString(RetryAfter); }
};
struct IHttpRequest;
using FHttpRequestPtr = TSharedPtr<IHttpRequest>;
using FHttpResponsePtr = TSharedPtr<IHttpResponse>;
struct FHttpRequestCompleteDelegate
{
	std::function<void(FHttpRequestPtr, FHttpResponsePtr, bool)> Bound;
	template <typename Lambda> void BindLambda(Lambda What) { Bound = What; }
};
struct IHttpRequest
{
	FString Url, Verb, Body, Authorization;
	FHttpRequestCompleteDelegate Complete;
	void SetURL(const FString& Value) { Url = Value; }
	void SetVerb(const FString& Value) { Verb = Value; }
	void SetHeader(const FString& Name, const FString& Value) { if (Name == FString("Authorization")) Authorization = Value; }
	void SetContentAsString(const FString& Value) { Body = Value; }
	FHttpRequestCompleteDelegate& OnProcessRequestComplete() { return Complete; }
	/** `VERB \t URL \t Authorization \t body`, and `status \t Retry-After \t body`; status 0 without a connection. */
	void ProcessRequest()
	{
		const auto Answered = Complete.Bound;
		std::cout << Verb.Text << '\t' << Url.Text << '\t' << Authorization.Text << '\t' << Body.Text << std::endl;
		Due().push_back([Answered]() {
			std::string Line;
			if (!std::getline(std::cin, Line)) std::exit(4);
			const size_t First = Line.find('\t'), Second = Line.find('\t', First + 1);
			auto Response = MakeShared<IHttpResponse>();
			Response->Status = std::atoi(Line.c_str());
			Response->RetryAfter = Line.substr(First + 1, Second - First - 1);
			Response->Body = Line.substr(Second + 1);
			Answered(FHttpRequestPtr(), Response->Status == 0 ? FHttpResponsePtr() : Response, Response->Status != 0);
		});
	}
};
struct FHttpModule
{
	static FHttpModule& Get() { static FHttpModule One; return One; }
	TSharedPtr<IHttpRequest> CreateRequest() { return MakeShared<IHttpRequest>(); }
};

struct FTickerDelegate
{
	std::function<bool(float)> Bound;
	template <typename Lambda> static FTickerDelegate CreateLambda(Lambda What) { FTickerDelegate One; One.Bound = What; return One; }
};
struct FTSTicker
{
	static FTSTicker& GetCoreTicker() { static FTSTicker One; return One; }
	void AddTicker(const FTickerDelegate& Delegate, float Seconds)
	{
		std::cout << "WAIT\t" << Seconds << std::endl;
		const auto What = Delegate.Bound;
		Due().push_back([What, Seconds]() { What(Seconds); });
	}
};
