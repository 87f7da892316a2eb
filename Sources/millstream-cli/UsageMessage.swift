/// The message for wrong usage, in the words of this program where those of the parser of arguments do not say what to do.
struct UsageMessage {
    /// A description of the mistake.
    private(set) var text: String
    /// The form to write instead; `nil` if the help of the command says it.
    private(set) var hint: String?

    /// Creates the message.
    ///
    /// - Parameters:
    ///   - message: The message of the parser.
    ///   - arguments: The arguments of the program.
    init(_ message: String, arguments: [String]) {
        text = message
        let quoted = message.split(separator: "'", omittingEmptySubsequences: false)
        if message.hasPrefix("Value to be set with flag '"), message.contains("had already been set with flag"),
            quoted.count >= 4
        {
            text = "\(quoted[3]) and \(quoted[1]) cannot be combined"
        } else if message.hasPrefix("Unknown option '"), quoted.count >= 3 {
            let written = String(quoted[1])
            text = "Unknown option '\(written)'"
            let suggested = quoted.count == 5 && quoted[2] == ". Did you mean " ? [String(quoted[3])] : []
            hint = Self.similarOption(to: written, among: suggested).map { "did you mean \($0)?" }
        } else if message.hasPrefix("Missing value for '"), quoted.count >= 2,
            let option = quoted[1].split(separator: " ").first.map(String.init),
            let value = Self.negativeNumber(after: option, in: arguments)
        {
            hint = "write a value that begins with a hyphen as \(option)=\(value)"
        }
    }

    /// Returns the arguments to add in place of those that a command requires and that are missing.
    ///
    /// - Parameter message: The message of the parser about the first that is missing.
    /// - Returns: The option with a value if an option is missing; otherwise an argument.
    static func arguments(inPlaceOf message: String) -> [String] {
        let quoted = message.split(separator: "'", omittingEmptySubsequences: false)
        guard message.hasPrefix("Missing expected argument '"), quoted.count >= 2, quoted[1].hasPrefix("--"),
            let option = quoted[1].split(separator: " ").first
        else { return ["-"] }
        return [String(option), "-"]
    }

    /// The options of all commands, which the parser does not suggest.
    private static let generalOptions = ["--help", "--version"]

    /// Returns the most similar option, because the parser suggests an option for any word; `nil` if none is similar.
    ///
    /// - Parameters:
    ///   - written: The option that does not exist.
    ///   - suggested: The options that the parser suggests.
    /// - Returns: One of these options, or one that all commands have.
    private static func similarOption(to written: String, among suggested: [String]) -> String? {
        let options = suggested + generalOptions
        let similar = options.min { UnknownCommand.distance($0, written) < UnknownCommand.distance($1, written) }
        let length = written.count { $0 != "-" }
        return similar.flatMap { UnknownCommand.distance($0, written) <= max(1, length / 3) ? $0 : nil }
    }

    /// Returns the argument after an option if it is a negative number, which the parser takes for an option.
    private static func negativeNumber(after option: String, in arguments: [String]) -> String? {
        guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
        let value = arguments[index + 1]
        return value.hasPrefix("-") && Double(value) != nil ? value : nil
    }
}
