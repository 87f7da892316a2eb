import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SharedCorpus
import Testing

/// Translates the successive versions of manifests that livesim2 serves.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct RefreshSequenceTests {
    private static let folder = "corpus/dash/Dash-Industry-Forum__livesim2/pkg/patch/testdata"

    private func presentation(_ name: String) throws -> MediaPresentation {
        let bytes = try SharedCorpus.bytes("\(Self.folder)/\(name).mpd")
        return try MediaPresentation(parsing: bytes.span, address: ResourceAddress("https://example.test/a.mpd"))
    }

    /// Two versions of a manifest, and the number of segments of two seconds by which the window moved.
    @Test(arguments: [
        ("testpic_2s_1", "testpic_2s_2", 4), ("testpic_2s_snr_1", "testpic_2s_snr_2", 4),
        ("testpic_2s_1", "testpic_2s_2_late_publish", 4), ("multiperiod_1", "multiperiod_2", 3),
    ])
    func windowMovesByTheSegmentsOfTheSecondVersion(_ first: String, _ second: String, _ count: Int) throws {
        var translator = PresentationTranslator()
        let versions = [try presentation(first), try presentation(second)]
        let origin = try #require(versions[0].publishTime).sinceEpoch
        let results = try [origin + 1, origin + 1 + MediaTime(seconds: Int64(2 * count))].enumerated().map {
            index,
            now in
            let result = try translator.translate(versions[index], at: now)
            #expect(violations(of: result) == [])
            return result
        }
        #expect(results[0].playlists.map(\.fileName) == results[1].playlists.map(\.fileName))
        for (before, after) in zip(results[0].playlists, results[1].playlists) {
            let (before, after) = (try before.playlist, try after.playlist)
            #expect(after.mediaSequence == before.mediaSequence + Int64(count))
            #expect(before.segments.dropFirst(count).map(\.address) == after.segments.dropLast(count).map(\.address))
            #expect(before.segments.dropFirst(count).map(\.sequence) == after.segments.dropLast(count).map(\.sequence))
            #expect(
                before.segments.dropFirst(count).map(\.discontinuitySequence)
                    == after.segments.dropLast(count).map(\.discontinuitySequence)
            )
            // Dates after the first one are sums of durations, which are rounded to microseconds.
            for (left, right) in zip(before.segments.dropFirst(count), after.segments.dropLast(count)) {
                let (left, right) = (try #require(left.programDateTime), try #require(right.programDateTime))
                let difference = left.sinceEpoch - right.sinceEpoch
                #expect(difference < MediaTime(value: 1, timescale: 10_000))
                #expect(MediaTime(value: -1, timescale: 10_000) < difference)
            }
        }
    }

    /// livesim2 numbers segments of two seconds from 1970; the media sequence numbers are the same.
    @Test(arguments: ["testpic_2s_snr_1", "testpic_2s_snr_2"])
    func numbersAreThoseOfTheManifest(_ name: String) throws {
        let presentation = try presentation(name)
        let result = try translate(presentation, at: try #require(presentation.publishTime).sinceEpoch + 1)
        #expect(result.playlists.count == 2)
        for entry in result.playlists {
            for segment in try entry.playlist.segments {
                #expect(segment.address.lastPathComponent == "\(segment.sequence).m4s")
            }
        }
    }

    /// The version that results from the patch is translated as the one that is served.
    @Test func patchedVersionIsTranslatedAsTheServedOne() throws {
        let first = try SharedCorpus.bytes("\(Self.folder)/multiperiod_1.mpd")
        let change = try SharedCorpus.bytes("\(Self.folder)/multiperiod_patch.mpp")
        let next = try ManifestPatch(parsing: change.span).applied(to: first.span)
        let address = ResourceAddress("https://example.test/a.mpd")
        let patched = try MediaPresentation(parsing: next.span, address: address)
        let served = try presentation("multiperiod_2")
        let now = try #require(served.publishTime).sinceEpoch + 1
        let (left, right) = (try translate(patched, at: now), try translate(served, at: now))
        #expect(left.multivariant.bytes == right.multivariant.bytes)
        #expect(left.playlists.map(\.bytes) == right.playlists.map(\.bytes))
    }
}
