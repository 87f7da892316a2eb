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
        let details = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " as TerminalText }
        let time = Date().formatted(.iso8601)
        StandardError.write(
            "\(time) \(event.level.rawValue) \(label): \(details.joined(separator: ""))\(event.message)\n"
        )
    }
}
