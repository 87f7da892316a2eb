import Foundation
import MediaTiming
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

    /// The lines about the access log in `docs/formats/extended-logs.md` that are not empty.
    private func documentation() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/formats/extended-logs.md"), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        return Array(lines.drop { $0 != "## Access log" }.prefix { $0 != "## Error log" })
    }

    @Test func theTableOfFieldsIsThatOfTheSource() throws {
        // The rows after those of the date and the time.
        let documented = try documentation().filter { $0.hasPrefix("| `") && !$0.hasPrefix("| `date`") }
        let rows = AccessLogField.allCases.map(\.documentation)
        #expect(documented == rows, "write:\n\(rows.joined(separator: "\n"))")
    }

    @Test func theExampleHasAllFields() throws {
        let names = ["date", "time"] + AccessLogField.allCases.map(\.rawValue)
        let fields = "#Fields: " + names.joined(separator: " ")
        let example = try documentation().drop { !$0.hasPrefix("#Fields:") }
        #expect(example.first == fields, "write:\n\(fields)")
        let entry = try #require(example.dropFirst().first)
        #expect(entry.split(separator: " ").count == names.count, "the entry lacks a value: \(entry)")
    }

    /// The number of address changes is unknown until there is an address; other fields whose total is a sum begin at zero.
    @Test func fieldsWithASumBeginAtZero() throws {
        var transcript = Transcript()
        // A segment from a cache begins a period and counts in no field.
        transcript.at(0.5, transcript.segment(0.1, 0.5, bytes: 450_000, isCached: true))
        let event = try #require(transcript.accessLog.events.first)
        #expect(event.numberOfMediaRequests == 0 && event.numberOfStalls == 0 && event.downloadOverdue == 0)
        #expect(event.segmentsDownloadedDuration == .zero && event.durationWatched == .zero)
        #expect(event.numberOfBytesTransferred == .zero && event.transferDuration == .zero)
        #expect(event.numberOfServerAddressChanges == nil && event.mediaRequestsWWAN == nil)
    }
}
