import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Tests the edits of the other tracks that follow from the media playlist of the video.
@Suite struct AlignmentFaultTests {
    /// Returns the media playlist of a video.
    ///
    /// - Parameters:
    ///   - count: The number of segments.
    ///   - seconds: The duration of a segment.
    ///   - isEvent: Whether the playlist is of the type `EVENT`.
    ///   - tags: The lines before segments.
    ///   - name: The name of a segment.
    /// - Returns: The playlist.
    /// - Throws: An error of the parser.
    private static func video(
        _ count: Int,
        seconds: Int = 10,
        isEvent: Bool = false,
        tags: [Int: String] = [:],
        name: (Int) -> String = { "\($0).ts" }
    ) throws -> MediaPlaylist {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n" + (isEvent ? "#EXT-X-PLAYLIST-TYPE:EVENT\n" : "")
        for number in 0..<count { text += "\(tags[number] ?? "")#EXTINF:\(seconds),\n\(name(number))\n" }
        return try MediaPlaylist(parsing: Array((text + (isEvent ? "" : "#EXT-X-ENDLIST\n")).utf8))
    }

    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    private func text(_ edit: PlaylistEdit) -> String { "\(edit.definition.name)=\(edit.value)" }

    // MARK: Breaks

    /// As many breaks are located as their rule can name.
    @Test(arguments: [(257, true), (258, false)]) func locatedBreaksAreLimited(count: Int, isAligned: Bool) throws {
        // A break is at each boundary but the start.
        let edit = PlaylistEdit.replaceBreaks(with: "ad", at: .every(MediaTime(seconds: 1)))
        let aligned = try edit.aligned(with: Self.video(count, seconds: 1), Self.video(1, seconds: 1))
        #expect((aligned != edit) == isAligned)
        #expect(aligned.steps.cutTimes.count == (isAligned ? 512 : 0))
    }

    @Test func breaksAreLocatedInCompletePlaylistsWithAKnownAdvertisement() throws {
        let edit = PlaylistEdit.replaceBreaks(with: "ad", at: .cues)
        let tags = [2: "#EXT-X-CUE-OUT:10\n"]
        let complete = try Self.video(4, tags: tags)
        let advertisement = try Self.video(1)
        #expect(text(edit.aligned(with: complete, advertisement)) == "replace-breaks=ad@20...30,cues")
        #expect(edit.aligned(with: complete, nil) == edit)
        #expect(try edit.aligned(with: Self.video(4, isEvent: true, tags: tags), advertisement) == edit)
        let program = try Self.video(4)
        #expect(text(edit.aligned(with: program, advertisement)) == "replace-breaks=ad@none,cues")
        // The breaks are those of this video, whatever is known of another one.
        let located = PlaylistEdit.replaceBreaks(with: "ad", at: .located(at: [Self.range(20, 30)], of: .cues))
        #expect(text(located.aligned(with: program, advertisement)) == "replace-breaks=ad@none,cues")
    }

    // MARK: Excluded segments

    /// As many seams are written as can be read.
    @Test(arguments: [(513, true), (515, false)]) func excludedRangesAreLimited(count: Int, isAligned: Bool) throws {
        let video = try Self.video(count, seconds: 1) { $0 % 2 == 1 ? "ads/\($0).ts" : "\($0).ts" }
        let edit = PlaylistEdit.exclude(.address(containing: "ads/"))
        let aligned = edit.aligned(with: video, nil)
        #expect((aligned != edit) == isAligned)
        #expect(aligned.steps.cutTimes.count == (isAligned ? 512 : 0))
    }

    // MARK: Events

    /// Segments that an event publishes later can be within the times.
    @Test(
        arguments: [
            ([range(10, 20), range(40, 40)], "exclude=seams=10...20/0/0"),
            ([range(10, 20), range(41, 41)], "exclude=10...20,41...41"),
            ([range(10, 20)], "exclude=seams=10...20/0/0"),
            ([range(10, 20), range(30, 40)], "exclude=10...20,30...40"),
            ([range(40, 40)], "exclude=40...40"),
        ] as [([MediaTimeRange], String)]
    )
    func timesOfAnEventAreThoseOfItsSegments(ranges: [MediaTimeRange], expected: String) throws {
        let event = try Self.video(4, isEvent: true)
        #expect(text(PlaylistEdit.exclude(.ranges(ranges)).aligned(with: event, nil)) == expected)
    }

    // MARK: Channels

    @Test func channelHasTheTimesOfTheVideoOnce() throws {
        let video = try Self.video(4, tags: [3: "#EXT-X-DISCONTINUITY\n"])
        let edit = PlaylistEdit.live(SimulatedChannel())
        let aligned = edit.aligned(with: video, nil)
        #expect(text(aligned) == "live=loop,periods=30+10,target=10")
        #expect(try aligned.aligned(with: Self.video(9), nil) == aligned)
        #expect(edit.isAligned && edit.isAlignedForVideo)
        let cut = PlaylistEdit.cut(Self.range(10, 20))
        #expect(cut.isAligned && !cut.isAlignedForVideo)
        #expect(!PlaylistEdit.absolute.isAligned && !PlaylistEdit.absolute.isAlignedForVideo)
    }

    // MARK: Ranges

    /// A time after that of any playlist stands for its end.
    @Test(
        arguments: [
            ("5...", "5..."), ("5...1099511627776", "5..."), ("5...1099511627775", "5...1099511627775"),
            ("5...1099511627777", "5..."), ("...5", "0...5"), ("...", nil), ("5", nil), ("7...5", nil),
        ] as [(String, String?)]
    )
    func endAfterAnyPlaylistIsNone(text: String, expected: String?) {
        let range = MediaTimeRange(partial: text)
        #expect(range?.editText == expected)
    }
}
