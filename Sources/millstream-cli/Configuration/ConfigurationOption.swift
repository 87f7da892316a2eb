import Adaptation
import AssetStorage
import Foundation
import MediaTiming
import NetworkConditioning

/// An option that the configuration file can have a default for.
///
/// ``all`` is the only table of these options: the file, the environment and `millstream config` are derived from it.
struct ConfigurationOption: Sendable {
    /// A form of values.
    enum Form: Sendable {
        /// Any text.
        case text
        /// The path of a file or folder; `~/` at its beginning is the home folder.
        case path
        /// Language tags, separated by commas.
        case languages
        /// A bit rate, such as `2M`.
        case bitRate
        /// A number in a range.
        case number(ClosedRange<Double>)
        /// A whole number in a range.
        case wholeNumber(ClosedRange<Int>)
        /// One of several names.
        case choice([String])
        /// A host and a port.
        case hostAndPort
        /// The name of conditions, or a file.
        case conditions
    }

    /// The name in the file, which is that of the option of the command line without `--`.
    let name: String
    let form: Form
    /// The commands whose option the value is the default of; `nil` for all commands with such an option.
    let commands: Set<String>?
    /// The value without a configuration, for people.
    let standard: String

    /// The name of the environment variable.
    var variable: String { "MILLSTREAM_" + name.uppercased().replacing("-", with: "_") }

    /// The options of the command line that each exclude this one.
    var alternatives: [String] {
        switch name {
        case "max-height", "max-bandwidth": [name, "min-bandwidth", "max-height", "min-size", "variants"]
        // Responses of a server whose certificate is not verified are never stored.
        case "cache": [name, "insecure"]
        default: [name]
        }
    }

    private init(_ name: String, _ form: Form, _ commands: Set<String>? = nil, standard: String = "none") {
        self.name = name
        self.form = form
        self.commands = commands
        self.standard = standard
    }

    /// The options, in the order of reports.
    static let all: [ConfigurationOption] = [
        .init("library", .path, standard: AssetLibrary.defaultDirectory.path),
        .init("conditions", .conditions),
        .init("audio", .languages, ["play"], standard: "the default of the stream"),
        .init("subtitles", .languages, ["play"]),
        .init("max-height", .wholeNumber(1...100_000), ["play", "download"]),
        .init("max-bandwidth", .bitRate, ["play"]),
        .init(
            "selector",
            .choice(SelectorName.allCases.map(\.rawValue)),
            ["play"],
            standard: SelectorName.default.rawValue
        ),
        .init("user-agent", .text, standard: "Millstream"),
        .init("timeout", .number(0.001...3600), standard: "20"),
        .init("retries", .wholeNumber(0...100), standard: "3"),
        .init("proxy", .hostAndPort),
        .init("cookie-jar", .path),
        .init("cache", .path),
    ]

    /// The option with a name.
    static func named(_ name: String) -> ConfigurationOption? { all.first { $0.name == name } }

    /// The preferred languages, which are wishes in a configuration and requirements on the command line.
    var isPreference: Bool { if case .languages = form { true } else { false } }

    /// Returns the value for the command line.
    func value(_ text: String) -> String {
        guard case .path = form, text.hasPrefix("~/") else { return text }
        let home = ProcessInfo.processInfo.environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
        return (home ?? FileManager.default.homeDirectoryForCurrentUser.path) + text.dropFirst(1)
    }

    /// Returns the reason for which a value is not valid, as the continuation of a sentence; `nil` if it is valid.
    func problem(with text: String) -> String? {
        guard !text.isEmpty else { return "must not be empty" }
        switch form {
        case .text, .path: return nil
        case .languages:
            let tags = text.split(separator: ",", omittingEmptySubsequences: false)
            return tags.contains(where: \.isEmpty) ? "must be language tags separated by commas, such as en,de" : nil
        case .bitRate: return BitRate(text) == nil ? "must be a bit rate, such as 2M" : nil
        case .number(let range):
            let isValid = Double(text).map(range.contains) ?? false
            return isValid ? nil : "must be between \(Self.text(range.lowerBound)) and \(Self.text(range.upperBound))"
        case .wholeNumber(let range):
            let isValid = Int(text).map(range.contains) ?? false
            return isValid ? nil : "must be a whole number between \(range.lowerBound) and \(range.upperBound)"
        case .choice(let names): return names.contains(text) ? nil : "must be one of \(names.joined(separator: ", "))"
        case .hostAndPort: return HTTPFlags.hostAndPort(text) == nil ? "must be HOST:PORT" : nil
        case .conditions:
            let isKnown = LinkProfile(preset: text) != nil || FileManager.default.fileExists(atPath: text)
            return isKnown ? nil : "must be a name that millstream conditions list shows, or a file"
        }
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(saturating: number))" : "\(number)"
    }
}
