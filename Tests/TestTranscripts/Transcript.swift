import Foundation

/// The results of a test, which are compared with reviewed results in a text file.
///
/// With `MILLSTREAM_RECORD_TRANSCRIPTS=1` in the environment of the tests, the files are rewritten; the differences are
/// then reviewed like changes of the source.
public struct Transcript {
    private let file: URL
    private var lines: [(section: String, text: String)] = []

    /// Creates an empty transcript.
    ///
    /// - Parameters:
    ///   - name: The name of the file, without its extension.
    ///   - path: The path of a source file; the transcript is in the folder `Transcripts` next to it.
    public init(_ name: String, besideFileAt path: String) {
        file = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("Transcripts/\(name).txt")
    }

    /// Appends a section: a title and a text of several lines.
    ///
    /// Carriage returns are written as `\r`, and a missing line ending of the last line is marked, so that both are
    /// visible.
    public mutating func add(_ title: String, _ text: String) {
        lines.append((title, "== \(title)"))
        // The text is split by bytes, because CR and LF together are a single character.
        var rest = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(decoding: line.flatMap { $0 == UInt8(ascii: "\r") ? Array("\\r".utf8) : [$0] }, as: UTF8.self)
        }
        if rest.last?.isEmpty == true { rest.removeLast() } else { rest[rest.count - 1] += "\\(no line end)" }
        lines += rest.map { (title, $0) }
    }

    /// Appends a section of lines.
    public mutating func add(_ title: String, lines texts: [String]) {
        add(title, texts.map { $0.replacing("\n", with: "\\n") + "\n" }.joined())
    }

    /// Compares the results with those in the file, after writing the file if the environment requests it.
    ///
    /// - Returns: The first line that differs, with the reviewed line; `nil` if all lines are equal.
    /// - Throws: The error of Foundation if the file cannot be read or written.
    public func difference() throws -> String? {
        let text = lines.map { $0.text + "\n" }.joined()
        if ProcessInfo.processInfo.environment["MILLSTREAM_RECORD_TRANSCRIPTS"] == "1" {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let reviewed = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        guard reviewed != text else { return nil }
        let known = reviewed.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for (number, (line, expected)) in zip(lines, known).enumerated() where line.text != expected {
            return
                "\(file.lastPathComponent):\(number + 1), in \(line.section):\n\(line.text)\nbut reviewed is\n\(expected)"
        }
        return "\(file.lastPathComponent): \(lines.count) lines, but \(known.count) are reviewed"
    }
}
