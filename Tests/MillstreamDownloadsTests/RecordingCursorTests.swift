import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests which segments of each version of a live playlist are new, and what was lost before them.
@Suite struct RecordingCursorTests {
    private typealias Step = RecordingCursor.Step

    /// The properties of a version of the playlist.
    private struct Version {
        /// The media sequence numbers.
        var numbers: Range<Int64>
        /// The time in milliseconds by which the dates differ from those of the numbers; `nil` without dates.
        var shift: Int64?
        /// The prefix of the names of the segments.
        var prefix = "s"
        /// The number of a segment with another prefix.
        var renamed: Int64?
        var duration = "4"
        var tags = "#EXT-X-TARGETDURATION:4\n"
        var hasEnded = false
    }

    /// Returns the date of the beginning of a segment, in milliseconds.
    private static func milliseconds(_ number: Int64) -> Int64 { 1_700_000_000_000 + number * 4_000 }

    private static func date(_ milliseconds: Int64) -> ProgramDateTime {
        ProgramDateTime(sinceEpoch: MediaTime(value: milliseconds, timescale: 1_000))
    }

    private static func playlist(_ version: Version) throws -> MediaPlaylist {
        var text = "#EXTM3U\n\(version.tags)#EXT-X-MEDIA-SEQUENCE:\(version.numbers.lowerBound)\n"
        for number in version.numbers {
            if let shift = version.shift {
                text += "#EXT-X-PROGRAM-DATE-TIME:\(date(milliseconds(number) + shift))\n"
            }
            let prefix = number == version.renamed ? "x" : version.prefix
            text += "#EXTINF:\(version.duration),\n\(prefix)\(number).ts\n"
        }
        if version.hasEnded { text += "#EXT-X-ENDLIST\n" }
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://live.example/live.m3u8"))
        )
    }

    /// Returns the last recorded segment, which ends at the beginning of the next number, or at the given time.
    private static func last(_ number: Int64, endingAt end: Int64? = nil, dated: Bool = true) -> RecordingWriter.Last {
        RecordingWriter.Last(
            sequence: number,
            uri: "s\(number).ts",
            endDate: dated ? date(end ?? milliseconds(number + 1)) : nil
        )
    }

    /// Returns the step of a new cursor.
    private static func step(_ version: Version, after last: RecordingWriter.Last?, start: Int = 0) throws -> Step {
        var cursor = RecordingCursor()
        return cursor.step(to: try playlist(version), after: last, startingAt: start)
    }

    private static func seconds(_ durations: [MediaTime]) -> [Double] { durations.map(\.seconds) }

    // MARK: Beginning

    @Test func recordingBeginsAtTheStart() throws {
        let version = Version(numbers: 5..<11, shift: 0)
        #expect(try Self.step(version, after: nil, start: 2) == Step(positions: 2..<6))
        #expect(try Self.step(version, after: nil, start: 9) == Step(positions: 6..<6))
        #expect(try Self.step(Version(numbers: 5..<5), after: Self.last(9)) == Step(positions: 0..<0))
    }

    @Test func versionOfWhichNothingIsRecordedIsOfferedAgain() throws {
        let playlist = try Self.playlist(Version(numbers: 5..<11))
        var cursor = RecordingCursor()
        #expect(cursor.step(to: playlist, after: nil, startingAt: 2) == Step(positions: 2..<6))
        #expect(cursor.step(to: playlist, after: nil, startingAt: 2) == Step(positions: 2..<6))
    }

    // MARK: Continuation

    @Test(
        arguments: [
            (5..<12, 5..<7), (10..<12, 0..<2), (9..<12, 1..<3), (5..<10, 5..<5), (3..<8, 5..<5),
        ] as [(Range<Int64>, Range<Int>)]
    )
    func segmentsAfterTheLastOneAreNew(numbers: Range<Int64>, positions: Range<Int>) throws {
        for shift in [0, nil] as [Int64?] {
            let version = Version(numbers: numbers, shift: shift)
            let step = try Self.step(version, after: Self.last(9, dated: shift != nil))
            #expect(step == Step(positions: positions), "\(String(describing: shift))")
        }
    }

    @Test func lostSegmentsHaveTheDurationBetweenTheDates() throws {
        let two = try Self.step(Version(numbers: 12..<14, shift: 0), after: Self.last(9))
        #expect(two.positions == 0..<2 && !two.hasDiscontinuity && two.lostCount == 2)
        #expect(Self.seconds(two.gaps) == [4, 4])
        // The last one has the rest of the time in milliseconds.
        let end = Self.milliseconds(10) - 1
        let uneven = try Self.step(Version(numbers: 12..<14, shift: 0), after: Self.last(9, endingAt: end))
        #expect(Self.seconds(uneven.gaps) == [4, 4.001])
    }

    /// A player gives up after many missing segments.
    @Test(arguments: [(32, 32), (33, 0)]) func longLossIsADiscontinuity(lost: Int64, gapCount: Int) throws {
        let version = Version(numbers: (10 + lost)..<(12 + lost), shift: 0)
        let step = try Self.step(version, after: Self.last(9))
        #expect(step.gaps.count == gapCount && step.hasDiscontinuity == (gapCount == 0))
        #expect(step.lostCount == lost && step.positions == 0..<2)
    }

    /// One segment is lost; its duration is that between the dates unless that is zero, or longer than a segment can be.
    @Test(
        arguments: [
            ("#EXT-X-TARGETDURATION:4\n", 4_500, [4.5]), ("#EXT-X-TARGETDURATION:4\n", 4_501, []),
            ("#EXT-X-TARGETDURATION:4\n", 1, [0.001]), ("#EXT-X-TARGETDURATION:4\n", 0, []), ("", 500, [0.5]),
            ("", 501, []),
        ] as [(String, Int64, [Double])]
    )
    func durationOfALostSegmentIsPlausible(tags: String, distance: Int64, gaps: [Double]) throws {
        let version = Version(numbers: 11..<13, shift: 0, tags: tags)
        let step = try Self.step(version, after: Self.last(9, endingAt: Self.milliseconds(11) - distance))
        #expect(Self.seconds(step.gaps) == gaps && step.hasDiscontinuity == gaps.isEmpty)
        #expect(step.lostCount == 1 && step.positions == 0..<2)
    }

    @Test func lossWithoutDatesIsADiscontinuity() throws {
        let step = try Self.step(Version(numbers: 12..<14), after: Self.last(9, dated: false))
        #expect(step == Step(positions: 0..<2, hasDiscontinuity: true, lostCount: 2))
    }

    // MARK: Restarts

    /// A segment with the number of the last recorded one is another one if its date differs by more than its duration.
    @Test(arguments: [(4_000, false), (-4_000, false), (4_001, true), (-4_001, true)] as [(Int64, Bool)])
    func anotherDateIsARestart(shift: Int64, isRestart: Bool) throws {
        let step = try Self.step(Version(numbers: 5..<12, shift: shift), after: Self.last(9))
        #expect(step == (isRestart ? Step(positions: 0..<7, hasDiscontinuity: true) : Step(positions: 5..<7)))
    }

    /// Dates of short segments may be inaccurate by a second.
    @Test(arguments: [(1_000, false), (1_001, true)] as [(Int64, Bool)])
    func datesOfShortSegmentsHaveATolerance(difference: Int64, isRestart: Bool) throws {
        let end = Self.milliseconds(9) + 500 - difference
        let version = Version(numbers: 5..<12, shift: 0, duration: "0.5")
        let step = try Self.step(version, after: Self.last(9, endingAt: end))
        #expect(step.hasDiscontinuity == isRestart && step.positions == (isRestart ? 0..<7 : 5..<7))
    }

    /// Lower numbers are those of an old version unless they are much lower.
    @Test(
        arguments: [(0..<5, 9, false), (0..<5, 10, true), (0..<2, 4, false), (0..<2, 5, true)]
            as [(Range<Int64>, Int64, Bool)]
    )
    func muchLowerNumbersAreARestart(numbers: Range<Int64>, number: Int64, isRestart: Bool) throws {
        let step = try Self.step(Version(numbers: numbers), after: Self.last(number, dated: false))
        let count = numbers.count
        #expect(
            step == (isRestart ? Step(positions: 0..<count, hasDiscontinuity: true) : Step(positions: count..<count))
        )
    }

    /// With dates, the end of the playlist tells whether it is an old version.
    @Test(arguments: [(20_000, false), (20_001, true)] as [(Int64, Bool)])
    func lowerNumbersWithLaterDatesAreARestart(shift: Int64, isRestart: Bool) throws {
        let step = try Self.step(Version(numbers: 0..<5, shift: shift), after: Self.last(9))
        #expect(step == (isRestart ? Step(positions: 0..<5, hasDiscontinuity: true) : Step(positions: 5..<5)))
    }

    // MARK: Names

    /// The next version tells whether the new names stay; the same bytes can come from a cache.
    @Test func namesThatStayAreARestart() throws {
        var cursor = RecordingCursor()
        let last = Self.last(7, dated: false)
        let first = try Self.playlist(Version(numbers: 5..<10, prefix: "r"))
        #expect(cursor.step(to: first, after: last, startingAt: 0) == Step(positions: 5..<5))
        #expect(cursor.step(to: first, after: last, startingAt: 0) == Step(positions: 5..<5))
        let next = try Self.playlist(Version(numbers: 6..<11, prefix: "r"))
        #expect(cursor.step(to: next, after: last, startingAt: 0) == Step(positions: 0..<5, hasDiscontinuity: true))
    }

    @Test func otherNamesInTheFinalVersionAreARestart() throws {
        let version = Version(numbers: 5..<10, prefix: "r", hasEnded: true)
        let step = try Self.step(version, after: Self.last(7, dated: false))
        #expect(step == Step(positions: 0..<5, hasDiscontinuity: true))
    }

    /// Only the last recorded segment has another name; that name is known in later versions.
    @Test func replacedSegmentIsNoRestart() throws {
        var cursor = RecordingCursor()
        let first = try Self.playlist(Version(numbers: 5..<9))
        #expect(cursor.step(to: first, after: Self.last(7, dated: false), startingAt: 0) == Step(positions: 3..<4))
        let last = Self.last(8, dated: false)
        let second = try Self.playlist(Version(numbers: 6..<10, renamed: 8))
        #expect(cursor.step(to: second, after: last, startingAt: 0) == Step(positions: 3..<4))
        let third = try Self.playlist(Version(numbers: 7..<11, renamed: 8))
        #expect(cursor.step(to: third, after: last, startingAt: 0) == Step(positions: 2..<4))
    }

    /// The names contain a token, for example; once that is known, names that stay for a while are no restart.
    @Test func namesThatChangeInEachVersionAreNoRestart() throws {
        var cursor = RecordingCursor()
        let last = Self.last(8, dated: false)
        var steps: [Step] = []
        let versions: [(Range<Int64>, String)] = [(5..<9, "s"), (6..<10, "t"), (6..<10, "u"), (7..<11, "u")]
        for (numbers, prefix) in versions {
            let playlist = try Self.playlist(Version(numbers: numbers, prefix: prefix))
            steps.append(cursor.step(to: playlist, after: last, startingAt: 0))
        }
        #expect(steps.map(\.positions) == [4..<4, 4..<4, 3..<4, 2..<4])
        #expect(!steps.contains { $0.hasDiscontinuity })
    }

    @Test func previousVersionWithoutTheLastSegmentDoesNotDecide() throws {
        var cursor = RecordingCursor()
        let last = Self.last(8, dated: false)
        let old = try Self.playlist(Version(numbers: 5..<7, prefix: "r"))
        #expect(cursor.step(to: old, after: last, startingAt: 0) == Step(positions: 2..<2))
        let next = try Self.playlist(Version(numbers: 5..<10, prefix: "r"))
        #expect(cursor.step(to: next, after: last, startingAt: 0) == Step(positions: 5..<5))
    }

    // MARK: Start

    @Test(
        arguments: [
            ("#EXT-X-TARGETDURATION:4\n", 10, 7), ("#EXT-X-TARGETDURATION:6\n", 10, 5), ("", 10, 7),
            ("#EXT-X-TARGETDURATION:4\n#EXT-X-SERVER-CONTROL:HOLD-BACK=20\n", 10, 5),
            ("#EXT-X-TARGETDURATION:4\n", 2, 0), ("#EXT-X-TARGETDURATION:4\n", 0, 0),
        ] as [(String, Int64, Int)]
    )
    func recordingBeginsAtTheLivePosition(tags: String, count: Int64, position: Int) throws {
        let playlist = try Self.playlist(Version(numbers: 0..<count, tags: tags))
        #expect(RecordingCursor.livePosition(in: playlist) == position)
    }

    /// The leading rendition begins with the segment 8.
    @Test(
        arguments: [
            // The dates are decisive, whatever the numbers are.
            (106..<112, -400_000, 2), (10..<16, 0, 0), (0..<5, 0, 2),
            // Segments of audio begin a part of a frame after or before those of video.
            (6..<12, 10, 2), (6..<12, -10, 2), (6..<12, 250, 2), (6..<12, 251, 1), (5..<8, 10, 2),
            (6..<9, 10, 2),
            (6..<12, nil, 2), (8..<14, nil, 0), (9..<15, nil, 3), (0..<8, nil, 5), (0..<9, nil, 8),
        ] as [(Range<Int64>, Int64?, Int)]
    )
    func renditionsBeginWithTheSameSegment(numbers: Range<Int64>, shift: Int64?, position: Int) throws {
        let leading = try Self.playlist(Version(numbers: 5..<12, shift: shift == nil ? nil : 0))
        let playlist = try Self.playlist(Version(numbers: numbers, shift: shift))
        #expect(RecordingCursor.position(in: playlist, with: (leading, 3)) == position)
    }

    @Test func leadingRenditionWithoutASegmentDoesNotDecide() throws {
        let leading = try Self.playlist(Version(numbers: 5..<12, shift: 0))
        let playlist = try Self.playlist(Version(numbers: 5..<12, shift: 0))
        #expect(RecordingCursor.position(in: playlist, with: (leading, 7)) == 4)
        #expect(RecordingCursor.position(in: playlist, with: (leading, 6)) == 6)
    }

    // MARK: Interval

    /// The interval between two loads (RFC 8216bis §6.3.4), within a second and two minutes.
    @Test(
        arguments: [
            ("#EXT-X-TARGETDURATION:4\n", 4, 2), ("#EXT-X-TARGETDURATION:1\n", 1, 1),
            ("#EXT-X-TARGETDURATION:0\n", 1, 1), ("#EXT-X-TARGETDURATION:120\n", 120, 60),
            ("#EXT-X-TARGETDURATION:600\n", 120, 120), ("", 4, 2),
        ] as [(String, Int, Int)]
    )
    func intervalFollowsFromTheTargetDuration(tags: String, afterNews: Int, otherwise: Int) throws {
        let playlist = try Self.playlist(Version(numbers: 0..<3, tags: tags))
        #expect(RecordingRun.interval(of: playlist, hasNews: true) == .seconds(afterNews))
        #expect(RecordingRun.interval(of: playlist, hasNews: false) == .seconds(otherwise))
    }
}
