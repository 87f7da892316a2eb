import Foundation

/// Parses the command line, which `Scripts/mutate` documents, and runs the campaign.
func run() throws -> Bool {
    var options = Campaign.Options()
    var arguments = CommandLine.arguments.dropFirst()
    func value(_ name: String) throws -> String {
        guard let value = arguments.popFirst() else { throw Failure("\(name) needs a value") }
        return value
    }
    func number(_ name: String) throws -> Int {
        guard let number = Int(try value(name)), number >= 0 else { throw Failure("\(name) needs a number") }
        return number
    }
    while let argument = arguments.popFirst() {
        switch argument {
        case "--sample": options.sample = try number(argument)
        case "--seed": options.seed = UInt64(try number(argument))
        case "--jobs": options.jobs = max(1, try number(argument))
        case "--most": options.maximumSurvivorShare = Double(try number(argument)) / 100
        case "--file": options.fileFilter = try value(argument)
        case "--build-only": options.onlyBuilds = true
        case "--folder": options.folder = URL(filePath: try value(argument))
        default:
            guard let target = MutationTarget.all.first(where: { $0.name == argument }) else {
                throw Failure(
                    "there is no target \(argument); known: \(MutationTarget.all.map(\.name).joined(separator: " "))"
                )
            }
            options.targets.append(target)
        }
    }
    guard !options.targets.isEmpty else { throw Failure("name at least one target") }
    options.folder =
        URL(filePath: options.folder.path, relativeTo: URL(filePath: FileManager.default.currentDirectoryPath))
        .absoluteURL
    var campaign = try Campaign(options)
    return try campaign.run(
        equivalents: try Equivalents(URL(filePath: "Mutation/equivalents.txt")),
        report: options.folder.appending(path: "report.txt")
    )
}

do {
    exit(try run() ? 0 : 1)
} catch {
    say("error: \(error)")
    exit(2)
}
