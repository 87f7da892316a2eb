import Foundation
import MediaTransport

/// The configuration file of a user: defaults of options, and header fields for hosts.
struct ConfigurationFile: Sendable {
    /// A value with the line that it is written in.
    struct Entry: Sendable {
        let value: String
        let line: Int
    }

    /// The path of the file.
    let path: String
    /// The values of options by name.
    private(set) var values: [String: Entry] = [:]
    /// The header fields with their hosts, as `--header-for` takes them.
    private(set) var headers: [Entry] = []

    /// The maximum size of a file, in bytes.
    private static let maximumSize = 1 << 20

    /// The path of the file in an environment: `$XDG_CONFIG_HOME/millstream/config`, otherwise in `~/.config`.
    static func path(in environment: [String: String]) -> String {
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return (folder ?? home + "/.config") + "/millstream/config"
    }

    /// Creates the configuration from a file; a file that does not exist has no values.
    ///
    /// - Throws: ``Failure`` if the file cannot be read, is not valid, or if other users can read its header fields.
    init(path: String) throws {
        self.path = path
        let attributes: [FileAttributeKey: Any]
        do {
            attributes = try FileManager.default.attributesOfItem(
                atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            )
        } catch {
            let isMissing = !FileManager.default.fileExists(atPath: path)
            guard !isMissing else { return }
            throw Failure(.failed, "file-failed", "the configuration \(path) cannot be read")
        }
        guard let data = try? InputFile.contents(path, limit: Self.maximumSize) else {
            throw Failure(.failed, "file-failed", "the configuration \(path) cannot be read")
        }
        guard data.count <= Self.maximumSize, let text = String(data: data, encoding: .utf8) else {
            throw Failure(.badInput, Self.code, "the configuration \(path) is not UTF-8 text of at most 1 MiB")
        }
        try parse(text)
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        guard headers.isEmpty || mode & 0o077 == 0 else {
            throw Failure(
                .failed,
                "readable-by-others",
                "the configuration \(path) has header fields, and other users can read it",
                hint: "chmod 600 \(path)"
            )
        }
    }

    private static let code = "bad-configuration"

    private mutating func parse(_ text: String) throws {
        var host: String?
        // The line ending of Windows is a single character, which is not equal to a line feed.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let number = index + 1
            let line = line.trimmingCharacters(in: .whitespaces.union(.newlines))
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("[") {
                host = try Self.host(line) ?? { throw failure(number, "a section must be [host NAME]") }()
                continue
            }
            guard let equals = line.firstIndex(of: "=") else {
                throw failure(number, "a line must be OPTION = VALUE")
            }
            let name = line[..<equals].trimmingCharacters(in: .whitespaces)
            let text = line[line.index(after: equals)...]
            // The value of a header field may be a secret, so that the message does not contain it.
            guard !Self.endsWithComment(text) else {
                throw failure(
                    number,
                    "the value contains \" #\", and a comment must be a line of its own",
                    hint: "a value with \" #\" can be given as an option of the command"
                )
            }
            let value = text.trimmingCharacters(in: .whitespaces)
            if let host { try addHeader(name, value, host, number) } else { try addValue(name, value, number) }
        }
    }

    /// Returns whether a text has a `#` after white space, as a comment at the end of a line would.
    private static func endsWithComment(_ text: Substring) -> Bool {
        zip(text, text.dropFirst()).contains { $0.isWhitespace && $1 == "#" }
    }

    private static func host(_ line: String) -> String? {
        guard line.hasSuffix("]") else { return nil }
        let words = line.dropFirst().dropLast().split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == "host", HeaderFieldScope(String(words[1])) != nil else { return nil }
        return String(words[1])
    }

    private mutating func addHeader(_ name: String, _ value: String, _ host: String, _ line: Int) throws {
        guard name == "header" else {
            throw failure(
                line,
                "a section for a host has no option \"\(name)\"",
                hint: "its option is header = NAME: VALUE"
            )
        }
        let field = "\(host) \(value)"
        // The value may be a secret, so that the message does not contain it.
        guard ScopedHeaderField(line: field) != nil else { throw failure(line, "header must be NAME: VALUE") }
        headers.append(Entry(value: field, line: line))
    }

    private mutating func addValue(_ name: String, _ value: String, _ line: Int) throws {
        guard let option = ConfigurationOption.named(name) else {
            let names = ConfigurationOption.all.map(\.name).joined(separator: ", ")
            throw failure(line, "there is no option \"\(name)\"", hint: "the options are \(names)")
        }
        guard values[name] == nil else { throw failure(line, "\(name) is given twice") }
        if let problem = option.problem(with: value) { throw failure(line, "\(name) \(problem)") }
        values[name] = Entry(value: value, line: line)
    }

    private func failure(_ line: Int, _ message: String, hint: String? = nil) -> Failure {
        Failure(.badInput, Self.code, "\(path):\(line): \(message)", hint: hint)
    }
}
