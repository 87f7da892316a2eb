import Foundation
import MediaTiming
import PlaybackReporting
import SeededRandomness
import Testing

/// Tests that written logs are parsed to the same values.
@Suite struct ExtendedLogRoundTripTests {
    private static let texts = [
        "", "-", "--", "\"", "\"\"", "\\", "\\n", "\n", "\r\n", "a b", "#Fields: uri", "#", " ", "\t", "\u{0}", "é",
        "e\u{301}",
        "😀", "\u{2028}\u{2029}\u{85}", "\\u{41}", "\\\\", "a\\", "\u{FEFF}", "https://example.com/a?b=c&d=\"e\"#f",
        "%0A",
        "[2001:db8::1]:443", "\u{7F}", "\u{10FFFF}", "'", ",;|", "{}",
    ]

    private func text(_ generator: inout SeededGenerator) -> String? {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return nil
        case 1: return Self.texts.randomElement(using: &generator)
        case 2: return (0..<3).compactMap { _ in Self.texts.randomElement(using: &generator) }.joined()
        default:
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                let limit: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x10FFFF
                if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &generator)) {
                    scalars.append(scalar)
                }
            }
            return String(scalars)
        }
    }

    private func number(_ generator: inout SeededGenerator) -> Int64? {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: nil
        case 1: [0, 1, .max, .max - 1, 10, 999].randomElement(using: &generator)
        case 2: .random(in: 0...1_000, using: &generator)
        default: .random(in: 0...Int64.max, using: &generator)
        }
    }

    private func duration(_ generator: inout SeededGenerator) -> Duration? {
        guard let seconds = number(&generator) else { return nil }
        let attoseconds: Int64? = [0, 1, 999_999_999_999_999_999, 500_000_000_000_000_000, 1_000_000_000]
            .randomElement(using: &generator)
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds ?? 0)
    }

    private func moment(_ generator: inout SeededGenerator) -> Duration? {
        guard Bool.random(using: &generator) else { return nil }
        // From the first to the last instant that a year of four digits can express.
        let seconds: Int64? = [-62_167_219_200, 253_402_300_799, 0, -1].randomElement(using: &generator)
        let whole =
            Bool.random(using: &generator)
            ? seconds ?? 0 : .random(in: -62_167_219_200...253_402_300_799, using: &generator)
        return .seconds(whole)
            + Duration(
                secondsComponent: 0,
                attosecondsComponent: .random(in: 0..<1_000_000_000_000_000_000, using: &generator)
            )
    }

    /// Returns the properties of all fields whose values have a type.
    private func properties<Value>(of type: Value.Type) -> [WritableKeyPath<AccessLog.Event, Value?>] {
        AccessLogField.allCases.compactMap { $0.property(of: type) }
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func accessLogRoundTrips(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var log = AccessLog()
        for _ in 0..<20 {
            var event = AccessLog.Event()
            event.playbackStartDate = moment(&generator)
            for field in properties(of: String.self) { event[keyPath: field] = text(&generator) }
            for field in properties(of: Int.self) {
                event[keyPath: field] = number(&generator).flatMap(Int.init(exactly:))
            }
            for field in properties(of: Duration.self) { event[keyPath: field] = duration(&generator) }
            for field in properties(of: BitRate.self) {
                event[keyPath: field] = number(&generator).map(BitRate.init(bitsPerSecond:))
            }
            for field in properties(of: ByteCount.self) {
                event[keyPath: field] = number(&generator).map(ByteCount.init)
            }
            for field in properties(of: PlaybackType.self) {
                event[keyPath: field] = [nil, .vod, .live, .file].randomElement(using: &generator) ?? nil
            }
            log.events.append(event)
        }
        let bytes = log.extendedLogData
        let read = try AccessLog(extendedLogData: bytes.span)
        #expect(read == log)
        // Equal strings may differ in Unicode composition.
        #expect(read.events.map { $0.uri.map { Array($0.utf8) } } == log.events.map { $0.uri.map { Array($0.utf8) } })
        #expect(read.extendedLogData == bytes)
        #expect(bytes.split(separator: UInt8(ascii: "\n")).count == 20 + (log.hasStart ? 4 : 3))
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func errorLogRoundTrips(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var log = ErrorLog()
        for _ in 0..<20 {
            log.events.append(
                ErrorLog.Event(
                    date: moment(&generator),
                    uri: text(&generator),
                    serverAddress: text(&generator),
                    playbackSessionID: text(&generator),
                    errorStatusCode: [Int.min, .max, 404, -1].randomElement(using: &generator) ?? 0,
                    errorDomain: text(&generator) ?? "",
                    errorComment: text(&generator)
                )
            )
        }
        let read = try ErrorLog(extendedLogData: log.extendedLogData.span)
        #expect(read == log)
        #expect(
            read.events.map { $0.errorComment.map { Array($0.utf8) } }
                == log.events.map { $0.errorComment.map { Array($0.utf8) } }
        )
        #expect(read.extendedLogData == log.extendedLogData)
    }

    @Test func datesOutsideFourDigitYearsAreNil() throws {
        for seconds in [-62_167_219_201, 253_402_300_800] as [Int64] {
            let log = ErrorLog(events: [ErrorLog.Event(date: .seconds(seconds), errorStatusCode: 1, errorDomain: "a")])
            #expect(try ErrorLog(extendedLogData: log.extendedLogData.span).events.map(\.date) == [nil])
        }
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func datesUseTheGregorianCalendar(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // Foundation uses the Julian calendar before 1582; the log format uses only the Gregorian calendar.
        let seconds = Int64.random(in: -12_219_292_800...253_402_300_799, using: &generator)
        let formatter = ISO8601DateFormatter()
        let expected = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
        let line = ExtendedLogWriter().line(
            ErrorLog.Event(date: .seconds(seconds), errorStatusCode: 1, errorDomain: "a")
        )
        #expect(line.hasPrefix(expected.replacing("T", with: " ").replacing("Z", with: ".000")))
    }
}

extension AccessLog {
    fileprivate var hasStart: Bool { events.contains { $0.playbackStartDate != nil } }
}
