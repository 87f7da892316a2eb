import MediaTiming
import PlaybackReporting
import Testing

@Suite struct ExtendedLogWriterTests {
    /// The columns that AVFoundation has keep their order and form; others follow them.
    @Test func accessLogFormatIsStable() throws {
        var transcript = Transcript()
        transcript.at(0.1, .playbackTypeKnown(.vod))
        transcript.at(0.1, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(0.5, transcript.segment(0.1, 0.5, bytes: 450_000))
        transcript.at(0.6, 0, .statusChanged(.readyToPlay))
        transcript.at(0.7, 0, Transcript.rate(1))
        transcript.at(6.7, 6, Transcript.switched(.low, .high))
        transcript.at(7.2, 6.5, .seekStarted(to: MediaTime(seconds: 60)))
        let writer = ExtendedLogWriter(
            software: "Millstream\n1.0",
            date: transcript.session.date(at: transcript.session.start + .seconds(8))
        )
        let id = transcript.session.id
        // The date and the time are the first two columns.
        let columnCount = try #require(AccessLogField.allCases.firstIndex(of: .averageAudioBitrate)) + 3
        let lines = writer.text(of: transcript.accessLog).split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { line in
            let wordCount = line.hasPrefix("#Fields:") ? columnCount + 1 : columnCount
            return line.split(separator: " ").prefix(wordCount).joined(separator: " ")
        }.joined(separator: "\n")
        #expect(
            text == """
                #Version: 1.0
                #Software: Millstream 1.0
                #Start-Date: 2026-04-15 15:13:26.726
                #Date: 2026-04-15 15:13:34.026
                #Fields: date time uri cs-guid s-ip s-ip-changes sc-count c-duration-downloaded c-start-time \
                c-duration-watched bytes c-observed-bitrate sc-indicated-bitrate c-stalls c-frames-dropped \
                c-startup-time c-overdue c-observed-min-bitrate c-observed-max-bitrate c-observed-bitrate-sd \
                s-playback-type sc-wwan-count c-switch-bitrate c-transfer-duration sc-indicated-avg-bitrate \
                c-avg-video-bitrate c-avg-audio-bitrate
                2026-04-15 15:13:26.726 https://example.com/low.m3u8 \(id) 192.0.2.1 0 1 6 0 6 450000 9000000 800000 \
                0 - 0.6 0 9000000 9000000 - VOD - - 0.4 600000 - -
                2026-04-15 15:13:32.726 https://example.com/high.m3u8 \(id) - - 0 0 6 0.5 0 - 4000000 \
                0 - - 0 - - - VOD - 5000000 0 3000000 - -
                - - https://example.com/high.m3u8 \(id) - - 0 0 - 0 0 - 4000000 \
                0 - - 0 - - - VOD - - 0 3000000 - -

                """
        )
    }

    /// A text with an ellipsis is no single word of ASCII, so it is in quotation marks, and can be read again.
    @Test func addressesAreWholeUnlessTheyAreShortened() throws {
        let address = "https://me:password@example.com/a.m3u8?token=topsecretvalue0123456789"
        let short = "https://example.com/a.m3u8?token=tops…"
        var access = AccessLog.Event()
        access.uri = address
        let error = ErrorLog.Event(uri: address, errorStatusCode: 404, errorDomain: "HTTP")
        let logs = (AccessLog(events: [access]), ErrorLog(events: [error]))
        let whole = ExtendedLogWriter()
        #expect(whole.text(of: logs.0).contains(" \(address) ") && whole.line(access).contains(" \(address) "))
        #expect(whole.text(of: logs.1).contains(" \(address) ") && whole.line(error).contains(" \(address) "))
        let shortened = ExtendedLogWriter(addresses: .shortened)
        let texts = [shortened.text(of: logs.0), shortened.text(of: logs.1)]
        for text in texts + [shortened.line(access), shortened.line(error)] {
            #expect(
                text.contains(" \"\(short)\" ") && !text.contains("topsecret") && !text.contains("password"),
                "\(text)"
            )
        }
        let read = try AccessLog(extendedLogData: Array(shortened.text(of: logs.0).utf8).span)
        #expect(read.events.map(\.uri) == [short])
    }

    @Test func errorLogFormatIsStable() {
        let log = ErrorLog(events: [
            ErrorLog.Event(
                date: .seconds(1_776_266_006),
                uri: "https://example.com/a b.m4s?q=\"1\"",
                serverAddress: "192.0.2.1:443",
                playbackSessionID: "-",
                errorStatusCode: -12_889,
                errorDomain: "Network",
                errorComment: "He said \"no\"\r\nC:\\new – ü\u{0}"
            ),
            ErrorLog.Event(errorStatusCode: 404, errorDomain: ""),
        ])
        #expect(
            String(decoding: log.extendedLogData, as: UTF8.self) == #"""
                #Version: 1.0
                #Software: Millstream
                #Start-Date: 2026-04-15 15:13:26.000
                #Fields: date time uri cs-guid s-ip status domain comment
                2026-04-15 15:13:26.000 "https://example.com/a b.m4s?q=""1""" "-" 192.0.2.1:443 -12889 "Network" "He said ""no""\r\nC:\\new – ü\u{0}"
                - - - - - 404 "" -

                """#
        )
        #expect(log.extendedLogDataStringEncoding == "UTF-8")
        #expect(AccessLog().extendedLogDataStringEncoding == "UTF-8")
    }

    @Test func negativeValuesAreOmitted() throws {
        var event = AccessLog.Event()
        event.durationWatched = .seconds(-1)
        event.numberOfStalls = -1
        event.indicatedBitrate = BitRate(bitsPerSecond: -1)
        let read = try AccessLog(extendedLogData: AccessLog(events: [event]).extendedLogData.span)
        #expect(read.events.first?.durationWatched == nil && read.events.first?.numberOfStalls == nil)
        #expect(read.events.first?.indicatedBitrate?.bitsPerSecond == 0)
    }

    @Test func emptyLogRoundTrips() throws {
        let bytes = AccessLog().extendedLogData
        #expect(try AccessLog(extendedLogData: bytes.span) == AccessLog())
        #expect(!String(decoding: bytes, as: UTF8.self).contains("Start-Date"))
    }

    @Test func incrementallyWrittenLogEqualsWholeLog() {
        var events: [AccessLog.Event] = []
        var text = ExtendedLogWriter().accessLogHeader()
        for index in 0..<3 {
            var event = AccessLog.Event()
            event.numberOfStalls = index
            events.append(event)
            text += ExtendedLogWriter().line(event)
        }
        #expect(text == ExtendedLogWriter().text(of: AccessLog(events: events)))
    }
}
