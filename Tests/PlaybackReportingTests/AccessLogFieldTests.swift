import Foundation
import PlaybackReporting
import Testing

/// Tests that the declarations of the fields are complete, and the table of them in `docs/formats/extended-logs.md`.
@Suite struct AccessLogFieldTests {
    /// Returns the names of the properties of an event that have a value.
    private func knownProperties(of event: AccessLog.Event) -> [String] {
        Mirror(reflecting: event).children.compactMap { child in
            Mirror(reflecting: child.value).children.isEmpty ? nil : child.label
        }
    }

    @Test func everyPropertyOfAnEventHasAField() {
        let properties = Mirror(reflecting: AccessLog.Event()).children.compactMap(\.label)
        let fields = AccessLogField.allCases.map { "\($0)" }
        #expect(Set(properties) == Set(fields + ["playbackStartDate"]))
    }

    @Test(arguments: AccessLogField.allCases)
    func aFieldIsReadIntoThePropertyOfItsName(field: AccessLogField) throws {
        let value = field == .playbackType ? "VOD" : "1"
        let text = "#Version: 1.0\n#Software: Millstream\n#Fields: \(field.rawValue)\n\(value)\n"
        let log = try AccessLog(extendedLogData: Array(text.utf8).span)
        let event = try #require(log.events.first)
        #expect(knownProperties(of: event) == ["\(field)"])
        let names = AccessLogField.allCases.map(\.rawValue)
        let index = try #require(names.firstIndex(of: field.rawValue))
        // The date and the time come first.
        let words = ExtendedLogWriter().line(event).split(separator: " ").map { String($0).replacing("\n", with: "") }
        #expect(words.count == names.count + 2 && words[index + 2] == value)
    }

    @Test func theTableOfFieldsIsThatOfTheSource() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/formats/extended-logs.md"), encoding: .utf8)
        // The rows after those of the date and the time, up to the table of the error log.
        let documented = text.split(separator: "\n").map(String.init).drop { $0 != "## Access log" }
            .prefix { $0 != "## Error log" }
            .filter { $0.hasPrefix("| `") && !$0.hasPrefix("| `date`") }
        let rows = AccessLogField.allCases.map(\.documentation)
        #expect(documented == rows, "write:\n\(rows.joined(separator: "\n"))")
    }
}
