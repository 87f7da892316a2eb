import ArgumentParser
import Foundation
import Synchronization

/// The values of options that the command line does not have: those of the environment, then those of the file.
struct Configuration: Sendable {
    /// The origin of a value.
    enum Origin: Sendable, Hashable {
        case environment(variable: String)
        case file(line: Int)
        case standard
    }

    /// A value with its origin.
    struct Value: Sendable {
        let text: String
        let origin: Origin
    }

    let file: ConfigurationFile
    private let values: [String: Value]

    /// The configuration of this process; empty before it is loaded.
    static var current: Configuration? { storage.value }
    private static let storage = Storage()

    /// Creates the configuration of an environment.
    ///
    /// - Throws: ``Failure`` if the file or a variable is not valid.
    init(_ environment: [String: String]) throws {
        file = try ConfigurationFile(path: ConfigurationFile.path(in: environment))
        var values: [String: Value] = [:]
        for option in ConfigurationOption.all {
            if let text = environment[option.variable] {
                // An empty variable turns the value of the file off.
                guard !text.isEmpty else { continue }
                if let problem = option.problem(with: text) {
                    throw Failure(.wrongUsage, "bad-configuration", "\(option.variable) \(problem)")
                }
                values[option.name] = Value(text: option.value(text), origin: .environment(variable: option.variable))
            } else if let entry = file.values[option.name] {
                values[option.name] = Value(text: option.value(entry.value), origin: .file(line: entry.line))
            }
        }
        self.values = values
    }

    /// Loads the configuration of this process.
    static func load() throws -> Configuration {
        let configuration = try Configuration(ProcessInfo.processInfo.environment)
        storage.value = configuration
        return configuration
    }

    /// Returns the value of an option that is not on the command line; `nil` for the value that is built in.
    func value(_ option: ConfigurationOption) -> Value? { values[option.name] }

    /// Returns the value of an option with a name.
    func text(_ name: String) -> String? { values[name]?.text }

    /// Returns a command line to which the values that it does not have are added.
    ///
    /// - Parameter arguments: The arguments without the name of the program.
    /// - Returns: The arguments, with additional options after the name of the command.
    func completed(_ arguments: [String]) -> [String] {
        guard !values.isEmpty || !file.headers.isEmpty else { return arguments }
        guard let (command, count) = Self.command(of: arguments) else { return arguments }
        let help = MillstreamCommand.helpMessage(for: command, columns: 1_000)
        let given = Set(arguments.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) })
        func accepts(_ name: String) -> Bool {
            help.split(separator: "\n").contains { line in
                let words = line.split(separator: " ", maxSplits: 1)
                return words.first.map { $0 == "--\(name)" } ?? false
            }
        }
        var added: [String] = []
        for option in ConfigurationOption.all where !option.isPreference {
            guard let value = values[option.name], option.commands?.contains(arguments[0]) ?? true,
                !option.alternatives.contains(where: { given.contains("--\($0)") }), accepts(option.name)
            else { continue }
            added += ["--\(option.name)", value.text]
        }
        // The fields of the command line are later, so that they have precedence.
        if accepts("header-for") { added += file.headers.flatMap { ["--header-for", $0.value] } }
        return Array(arguments.prefix(count)) + added + arguments.dropFirst(count)
    }

    /// Returns the command that arguments name, or its default subcommand, with the number of arguments that are its name.
    private static func command(of arguments: [String]) -> (any ParsableCommand.Type, Int)? {
        var command: any ParsableCommand.Type = MillstreamCommand.self
        var count = 0
        for argument in arguments {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == argument }) else {
                break
            }
            command = next
            count += 1
        }
        guard count > 0, command != ConfigCommand.self else { return nil }
        return (command.configuration.defaultSubcommand ?? command, count)
    }

    /// The configuration of the process, which is set once.
    private final class Storage: Sendable {
        private let mutex = Mutex<Configuration?>(nil)
        var value: Configuration? {
            get { mutex.withLock { $0 } }
            set { mutex.withLock { $0 = newValue } }
        }
    }
}
