import Foundation
import MediaTiming
import PlaybackReporting
import Testing

@Suite struct PlaybackEventWriterTests {
    private let transcript = Transcript()
    private var writer: PlaybackEventWriter { PlaybackEventWriter(session: transcript.session) }

    private func line(_ kind: PlaybackEvent.Kind, media: Int64? = 7) -> String {
        let mediaTime = media.map(MediaTime.init(seconds:))
        return writer.line(PlaybackEvent(time: transcript.clock(1.5), mediaTime: mediaTime, kind: kind))
    }

    /// One event of each kind.
    private var kinds: [PlaybackEvent.Kind] {
        let segment = LoadedSegment(
            address: "https://example.com/1.m4s",
            mediaType: .video,
            variant: .high,
            range: MediaTimeRange(start: MediaTime(seconds: 6), duration: MediaTime(value: 9_009, timescale: 1_500)),
            bytes: ByteCount(1_000),
            transferDuration: .milliseconds(250),
            isOverdue: false
        )
        let skipped = SkippedSegment(
            address: "a",
            mediaType: .audio,
            range: segment.range,
            reason: .gap,
            sequence: 7
        )
        let change = Transcript.change(.low, .high)
        let message = TimedMetadata(kind: .id3, time: MediaTime(value: 5, timescale: 2), payload: Array("ID3".utf8))
        return [
            .statusChanged(.readyToPlay), .playbackTypeKnown(.live), Transcript.rate(1.5, from: 1),
            .timeControlChanged(.waiting(.toMinimizeStalls)), transcript.segment(1, 1.5, bytes: 5),
            .segmentLoaded(segment), .segmentSkipped(skipped),
            .likelyToKeepUp(
                LikelyToKeepUpReport(isInitial: true, variant: .low, timeTaken: .seconds(1), loadedTimeRanges: [])
            ),
            .stalled, .stallEnded(after: .milliseconds(1_250)), .seekStarted(to: MediaTime(seconds: 9)),
            Transcript.landed(9), .timeJumped(from: nil, to: MediaTime(seconds: 3)), .variantSwitchStarted(change),
            .variantSwitched(change, succeeded: true), .pathwayChanged(from: "a", to: "b"),
            .selectionChanged(SelectionChange(mediaType: .subtitles, option: nil, isExplicit: true)),
            .tracksChanged([PlaybackTrack(id: 1, mediaType: .audio, codec: "mp4a.40.2", language: "en")]),
            .seekableRangeChanged(segment.range), .timedMetadata(message),
            .frames(FrameCounts(decoded: 25, dropped: 1)),
            .error(Transcript.failure()), .playedToEnd, .failedToPlayToEnd(Transcript.failure()), .ended,
        ]
    }

    @Test func everyLineHasEventNameAndTimes() throws {
        let names = [
            "status", "playbackType", "rate", "timeControl", "request", "segmentLoaded", "segmentSkipped",
            "likelyToKeepUp", "stall", "stallEnd", "seek", "seekEnd", "timeJump", "variantSwitchStart", "variantSwitch",
            "pathwayChange", "selectionChange", "trackChange", "seekableRange", "timedMetadata", "frames", "error",
            "end", "failedToEnd",
            "sessionEnd",
        ]
        try #require(kinds.count == names.count)
        for (kind, name) in zip(kinds, names) {
            let text = line(kind)
            let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(object["event"] as? String == name && kind.name == name)
            #expect(object["time"] as? Double == 1.5 && object["mediaTime"] as? Double == 7)
            #expect(text.hasPrefix(#"{"event":"\#(name)","time":1.5,"mediaTime":7"#) && !text.contains("\n"))
            #expect(text == line(kind))
        }
    }

    @Test func unknownMediaTimeIsNull() {
        #expect(line(.stalled, media: nil) == #"{"event":"stall","time":1.5,"mediaTime":null}"#)
    }

    @Test func eventLineFormatIsStable() {
        let lines = kinds.map { line($0) }
        #expect(
            lines[19].hasSuffix(
                #""kind":"id3","start":2.5,"scheme":"https://aomedia.org/emsg/ID3","value":"","id":0,"payload":"SUQz"}"#
            )
        )
        #expect(lines[2].hasSuffix(#""rate":1.5,"previousRate":1,"reason":"setRateCalled"}"#))
        #expect(
            lines[4].hasSuffix(
                #""kind":"mediaSegment","url":"https://example.com/1.m4s","requestStart":1,"responseStart":1,"#
                    + #""responseEnd":1.5,"bytes":5,"serverAddress":"192.0.2.1","cached":false,"segmentDuration":6,"#
                    + #""abandoned":false}"#
            )
        )
        #expect(
            lines[5].hasSuffix(
                #""url":"https://example.com/1.m4s","mediaType":"video","variant":"high","start":6,"duration":6.006,"#
                    + #""bytes":1000,"transferDuration":0.25,"overdue":false}"#
            )
        )
        #expect(
            lines[6].hasSuffix(
                #""url":"a","sequence":7,"mediaType":"audio","start":6,"duration":6.006,"reason":"gap"}"#
            )
        )
        #expect(
            lines[14].hasSuffix(
                #""succeeded":true,"from":{"id":"low","url":"https://example.com/low.m3u8","bandwidth":800000,"#
                    + #""averageBandwidth":600000},"to":{"id":"high","url":"https://example.com/high.m3u8","#
                    + #""bandwidth":4000000,"averageBandwidth":3000000,"width":1920,"height":1080},"#
                    + #""cause":"throughput","throughput":5000000,"bufferLevel":12,"loadedTimeRanges":[]}"#
            )
        )
        #expect(lines[15].hasSuffix(#""mediaTime":7,"from":"a","to":"b"}"#))
        #expect(lines[18].hasSuffix(#""range":[6,12.006]}"#))
        #expect(lines[21].hasSuffix(#""status":404,"domain":"HTTP","comment":"Not found","recovered":true}"#))
    }

    @Test func responseHeadersAreNotWritten() {
        let record = PlaybackErrorRecord(
            statusCode: 403,
            domain: "HTTP",
            comment: "no",
            responseHeaders: ["Set-Cookie": "secret"],
            didRecover: false
        )
        #expect(!line(.error(record)).contains("secret"))
    }

    @Test(arguments: WrittenAddresses.allCases)
    func addressesAreWholeUnlessTheyAreShortened(addresses: WrittenAddresses) {
        let address = "https://me:password@example.com/a.m3u8?token=topsecretvalue0123456789"
        let variant = VariantDescription(id: "v", address: address, peakBitRate: BitRate(bitsPerSecond: 1))
        let range = MediaTimeRange(start: .zero, duration: MediaTime(seconds: 6))
        let loaded = LoadedSegment(
            address: address,
            mediaType: .video,
            variant: variant,
            range: range,
            bytes: ByteCount(1),
            transferDuration: .milliseconds(1),
            isOverdue: false
        )
        let failure = PlaybackErrorRecord(
            statusCode: 404,
            domain: "HTTP",
            comment: "no",
            address: address,
            didRecover: true
        )
        let change = Transcript.change(variant, variant)
        let writer = PlaybackEventWriter(session: transcript.session, addresses: addresses)
        let kinds: [PlaybackEvent.Kind] = [
            .segmentLoaded(loaded),
            .segmentSkipped(
                SkippedSegment(address: address, mediaType: .audio, range: range, reason: .gap, sequence: nil)
            ),
            .variantSwitchStarted(change), .variantSwitched(change, succeeded: true), .error(failure),
            .failedToPlayToEnd(failure),
        ]
        for kind in kinds {
            let line = writer.line(PlaybackEvent(time: transcript.clock(1), mediaTime: nil, kind: kind))
            switch addresses {
            case .whole: #expect(line.contains(#""url":"\#(address)""#), "\(line)")
            case .shortened:
                #expect(line.contains(#""url":"https://example.com/a.m3u8?token=tops…""#), "\(line)")
                #expect(!line.contains("topsecret") && !line.contains("password"), "\(line)")
            }
        }
    }

    @Test func rateThatIsNotANumberIsNull() {
        #expect(line(Transcript.rate(.nan)).contains(#""rate":null"#))
    }
}
