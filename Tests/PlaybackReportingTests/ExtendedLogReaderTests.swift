import MediaTiming
import PlaybackReporting
import SeededRandomness
import Testing

@Suite struct ExtendedLogReaderTests {
    private func access(_ text: String, limits: ExtendedLogReader.Limits = .init()) throws -> AccessLog {
        try AccessLog(extendedLogData: Array(text.utf8).span, limits: limits)
    }

    @Test func avFoundationAccessLogIsParsed() throws {
        let log = try access(
            """
            #Software: AppleCoreMedia/1.0.0.23F5054h (iPad; U; CPU OS 26_5 like Mac OS X; en_us)
            #Date: 2026/04/15 15:14:02.002
            #Fields: date time uri cs-guid s-ip s-ip-changes sc-count c-duration-downloaded c-start-time \
            c-duration-watched bytes c-observed-bitrate sc-indicated-bitrate c-stalls c-frames-dropped c-startup-time \
            c-overdue c-reason c-observed-min-bitrate c-observed-max-bitrate c-observed-bitrate-sd s-playback-type \
            sc-wwan-count c-switch-bitrate
            2026/04/15 15:13:26.026 https://example.com/gear5/prog_index.m3u8 2D5C8F04 17.253.122.203 0 26 399.556 \
            0.000 10.181 42231947 23666383.500 1924009 0 0 0.133 0 8 - - 6122725.443 VOD 0 -
            - - https://example.com/gear5/prog_index.m3u8 2D5C8F04 - - 0 0.000 0.000 -1.000 0 22814446.000 1924009 \
            0 -1 0.040 0 - - - 6124945.832 MOD 0 -
            """
        )
        try #require(log.events.count == 2)
        let event = log.events[0]
        #expect(event.playbackStartDate == .seconds(1_776_266_006) + .milliseconds(26))
        #expect(event.segmentsDownloadedDuration == .milliseconds(399_556))
        #expect(event.durationWatched == .milliseconds(10_181) && event.numberOfMediaRequests == 26)
        #expect(event.observedBitrate?.bitsPerSecond == 23_666_384)
        #expect(event.observedBitrateStandardDeviation?.bitsPerSecond == 6_122_725)
        #expect(event.playbackType == .vod && event.mediaRequestsWWAN == 0 && event.switchBitrate == nil)
        #expect(log.events[1].playbackStartDate == nil && log.events[1].durationWatched == nil)
        #expect(log.events[1].numberOfDroppedVideoFrames == nil && log.events[1].playbackType == nil)
    }

    @Test func avFoundationErrorLogIsParsed() throws {
        let text = """
            #Fields: date time uri cs-guid s-ip status domain comment cs-iftype
            2026/04/15 15:13:26 https://example.com/1.ts ABC - -12889 "CoreMediaErrorDomain" "No response for media file in 9.9767s" -
            """
        let log = try ErrorLog(extendedLogData: Array(text.utf8).span)
        #expect(log.events.map(\.errorStatusCode) == [-12_889])
        #expect(log.events.first?.errorDomain == "CoreMediaErrorDomain")
        #expect(log.events.first?.errorComment == "No response for media file in 9.9767s")
    }

    @Test(arguments: [
        ("#Fields: status comment\n-1 \"C:\\new\"\n", #"C:\new"#),
        ("#Software: Elsewhere 2\n#Fields: status comment\n-1 \"C:\\new\"\n", #"C:\new"#),
        ("#Software: Millstream\n#Fields: status comment\n-1 \"C:\\new\"\n", "C:\new"),
    ])
    func onlyMillstreamLogsHaveEscapes(text: String, comment: String) throws {
        #expect(try ErrorLog(extendedLogData: Array(text.utf8).span).events.first?.errorComment == comment)
    }

    @Test func logsWithOtherSoftwareNameRoundTrip() throws {
        let comment = "C:\\new\nline \"x\""
        var log = ErrorLog()
        log.events = [ErrorLog.Event(errorStatusCode: -1, errorDomain: "Media", errorComment: comment)]
        for software in ["Player of a shop", nil] {
            let text = ExtendedLogWriter(software: software).text(of: log)
            #expect(try ErrorLog(extendedLogData: Array(text.utf8).span) == log)
        }
    }

    @Test(arguments: [
        "#Version: 1.0\n#Fields: c-stalls uri\n3 a.m3u8\n",
        "#Version: 1.0\r\n#Fields: c-stalls uri\r\n3 a.m3u8\r\n",
        "\u{FEFF}#VERSION: 1.0\n#fields: C-Stalls  URI\n\n  3\ta.m3u8",
        "#Fields: uri x-ours cs(User-Agent) c-stalls\na.m3u8 \"a \"\"b\" - \"3\"\n",
        "#Fields: bytes\n#Remark: no entries\n#Fields: c-stalls uri c-stalls\n3 a.m3u8 4\n#End-Date: 2026-01-01 00:00\n",
        "# just a line\n#Fields: uri c-stalls\na.m3u8 3.0",
    ])
    func everyLogSpellingIsParsed(text: String) throws {
        let event = try #require(try access(text).events.first)
        #expect(event.uri == "a.m3u8" && event.numberOfStalls == 3)
    }

    @Test func fieldsMayChangeWithinALog() throws {
        let log = try access("#Fields: uri\na\n#Fields: c-stalls\n7\n#Fields: uri c-stalls\nb 8\n")
        #expect(log.events.map(\.uri) == ["a", nil, "b"] && log.events.map(\.numberOfStalls) == [nil, 7, 8])
    }

    @Test(arguments: [
        ("2026-02-30 -", 2), ("2026-13-01 -", 2), ("2026-01-01 24:00", 2), ("2026-01-01 12:60", 2),
        ("2026-01-01 12:00:61", 2), ("26-01-01 -", 2), ("2026-01 -", 2), ("2026-01-01 noon", 2), ("2026-0+1-01 -", 2),
    ])
    func impossibleDatesAreRejected(text: String, line: Int) {
        let error = #expect(throws: ExtendedLogError.self) { try access("#Fields: date time\n" + text) }
        #expect(error?.code == .malformedValue && error?.line == line && error?.field == "date")
    }

    @Test func timesMayOmitComponents() throws {
        let log = try access(
            "#Fields: date time\n1970-01-02 -\n1970-01-01 00:01\n1970-01-01 00:00:60\n- 12:00\n1969-12-31 23:59:59.5"
        )
        #expect(
            log.events.map(\.playbackStartDate) == [
                .seconds(86_400), .seconds(60), .seconds(60), nil, .milliseconds(-500),
            ]
        )
    }

    @Test(arguments: [
        ("a\n", ExtendedLogError.Code.noFields, 1),
        ("#Fields:\na\n", .noFields, 2),
        ("#Version: 2.0\n", .unsupportedVersion, 1),
        ("#Version:\n", .unsupportedVersion, 1),
        ("#Fields: uri c-stalls\na 1\n\nb\n", .wrongNumberOfValues, 4),
        ("#Fields: uri c-stalls\na b 1\n", .wrongNumberOfValues, 2),
        ("#Fields: uri\n\"a\n", .malformedString, 2),
        ("#Fields: uri\n\"a\"b\n", .malformedString, 2),
        ("#Fields: uri\n\"a\"\"\n", .malformedString, 2),
        ("#Fields: c-stalls\nx\n", .malformedValue, 2),
        ("#Fields: c-stalls\n1.5\n", .malformedValue, 2),
        ("#Fields: c-stalls\n9223372036854775808\n", .malformedValue, 2),
        ("#Fields: bytes\n1e5\n", .malformedValue, 2),
        ("#Fields: c-duration-watched\n1.2.3\n", .malformedValue, 2),
        ("#Fields: c-duration-watched\n.\n", .malformedValue, 2),
        ("#Fields: c-duration-watched\n999999999999999999999999999999999999999999\n", .malformedValue, 2),
        ("#Fields: sc-indicated-bitrate\n+1\n", .malformedValue, 2),
        ("#Fields: sc-indicated-bitrate\nnan\n", .malformedValue, 2),
        ("#Fields: sc-indicated-bitrate\n9223372036854775807.5\n", .malformedValue, 2),
    ])
    func errorsReportLineNumber(text: String, code: ExtendedLogError.Code, line: Int) {
        let error = #expect(throws: ExtendedLogError.self) { try access(text) }
        #expect(error?.code == code && error?.line == line)
        #expect(error?.description.hasPrefix("line \(line)") == true)
    }

    @Test func accessLogIsRejectedAsErrorLog() {
        let bytes = AccessLog(events: [AccessLog.Event()]).extendedLogData
        let error = #expect(throws: ExtendedLogError.self) { try ErrorLog(extendedLogData: bytes.span) }
        #expect(error?.code == .noFields)
    }

    @Test func hostileLogExceedsLimits() {
        let limits = ExtendedLogReader.Limits(maximumEntryCount: 10, maximumLineLength: 100, maximumFieldCount: 5)
        func code(_ text: String) -> ExtendedLogError.Code? {
            (#expect(throws: ExtendedLogError.self) { try access(text, limits: limits) })?.code
        }
        #expect(code("#Fields: uri\n" + String(repeating: "a\n", count: 11)) == .tooManyEntries)
        #expect(code("#Fields: uri\n" + String(repeating: "a", count: 101)) == .lineTooLong)
        #expect(code("#Remark: " + String(repeating: "a", count: 101)) == .lineTooLong)
        #expect(code("#Fields: a b c d e f\n") == .tooManyFields)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func anyBytesAreParsedOrRejected(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "#", "#Fields:", "#Version: 1.0\n", " ", "\t", "\"", "\"\"", "\n", "\r\n", "-", "--", ".", "9", "date",
            "time",
            "uri", "status", "bytes", "\\u{", "}", "\\", "\\n", "2026-01-01", "é", "99999999999999999999", ":", "/",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...80, using: &generator) {
            if Int.random(in: 0..<10, using: &generator) == 0 {
                bytes.append(.random(in: 0...255, using: &generator))
            } else {
                bytes += Array((pieces.randomElement(using: &generator) ?? "").utf8)
            }
        }
        if let log = try? AccessLog(extendedLogData: bytes.span) {
            #expect((try? AccessLog(extendedLogData: log.extendedLogData.span)) == log)
        }
        if let log = try? ErrorLog(extendedLogData: bytes.span) {
            #expect((try? ErrorLog(extendedLogData: log.extendedLogData.span)) == log)
        }
    }
}
