using System.IO;
using UnrealBuildTool;

public class Muster : ModuleRules
{
	public Muster(ReadOnlyTargetRules Target) : base(Target)
	{
		PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
		PublicDependencyModuleNames.AddRange(new[] { "Core", "HTTP" });
		// The header for C++, in a folder beside that of the plugin.
		PublicIncludePaths.Add(Path.Combine(ModuleDirectory, "../../../cpp"));
	}
}
