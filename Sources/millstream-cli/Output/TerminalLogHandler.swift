import Foundation
import Logging
import ReportFormat

/// A log handler that writes to standard error and escapes external text.
struct TerminalLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
        fields.merge(event.metadata ?? [:]) { _, new in new }
        if let error = event.error { fields["error"] = fields["error"] ?? "\(error)" }
        let details = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.field($0.value)) " as TerminalText }
        let time = Date().formatted(.iso8601)
        StandardError.write(
            "\(time) \(event.level.rawValue) \(label): \(details.joined(separator: ""))\(event.message)\n"
        )
    }

    /// Returns a value as one word, so that programs can read the line: in quotation marks if it contains spaces or is empty.
    private static func field(_ value: Logger.Metadata.Value) -> String {
        let text = "\(value)"
        guard text.isEmpty || text.contains(where: { $0.isWhitespace || $0 == "\"" || $0 == "=" }) else { return text }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
