import ArgumentParser

/// A word on the command line in the place of a command that does not exist.
struct UnknownCommand {
    /// The word.
    private let word: String
    /// The names of the commands to which it could belong, from the program on.
    private let path: [String]
    /// The names of the commands that exist in its place.
    private let available: [String]

    /// Finds the first word of the arguments that is no command.
    ///
    /// - Parameter arguments: The arguments after the name of the program, with or without `help` as the first one.
    /// - Returns: The word; `nil` if there is none.
    static func first(in arguments: [String]) -> UnknownCommand? {
        var path = ["millstream"]
        var commands = MillstreamCommand.configuration.subcommands
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            // Options follow a command, and so do the arguments of a command without subcommands.
            guard !word.hasPrefix("-"), !commands.isEmpty else { return nil }
            guard let command = commands.first(where: { $0.configuration.commandName == word }) else {
                let available = commands.compactMap { $0.configuration.commandName }
                return UnknownCommand(word: word, path: path, available: available)
            }
            path.append(word)
            commands = command.configuration.subcommands
        }
        return nil
    }

    /// The error, with the most similar command as a hint.
    var failure: Failure {
        let command = path.joined(separator: " ")
        let similar = available.min { Self.distance($0, word) < Self.distance($1, word) }
        let isSimilar = similar.map { Self.distance($0, word) <= max(1, word.count / 3) } ?? false
        return Failure(
            .wrongUsage,
            "usage",
            "\(command) has no command \"\(word)\"",
            hint: isSimilar ? "did you mean \(command) \(similar ?? "")?" : "see \(command) --help"
        )
    }

    /// Returns the number of characters that are inserted, removed, replaced or exchanged with the next to make one text
    /// the other.
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.prefix(64)), Array(second.prefix(64)))
        var rows = [Array(0...second.count)]
        for row in first.indices {
            var next = [row + 1]
            for column in second.indices {
                let replaced = rows[row][column] + (first[row] == second[column] ? 0 : 1)
                var least = min(replaced, next[column] + 1, rows[row][column + 1] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[first.count][second.count]
    }
}
