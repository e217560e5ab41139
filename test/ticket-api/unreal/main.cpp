// Plays once, as the client of docs/game-clients.md does, and tells what came of it.
#include "client.h"

int main()
{
	const auto Tickets = MakeShared<FTickets>(FString("API"), FString("ann"));
	Tickets->Play(FString("duel"),
		[](FJson Ticket) { std::cout << "CHANGED\t" << *Ticket->GetStringField("status") << std::endl; },
		[](FJson Assignment, FString Reason)
		{
			std::cout << "ENDED\t" << (Assignment.IsValid() ? *Assignment->GetStringField("fqdn") : "") << '\t' << *Reason << std::endl;
		});
	RunUntilIdle();
	return 0;
}
