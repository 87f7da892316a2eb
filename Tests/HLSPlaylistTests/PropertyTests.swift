import Foundation
import HLSPlaylist
import MediaTiming
import ReportFormat
import SeededRandomness
import SharedCorpus
import Testing

/// Tests of properties of all playlists, with randomly generated ones.
@Suite struct PropertyTests {
    private static let seeds: [UInt64] = Array(1...120)

    @Test(arguments: seeds)
    func generatedMediaPlaylistParsesToExpectedValues(seed: UInt64) throws {
        let expected = GeneratedMediaPlaylist(seed: seed)
        let playlist = try MediaPlaylist(parsing: expected.bytes)
        #expect(playlist.mediaSequence == expected.mediaSequence && playlist.hasEndMarker == expected.hasEndMarker)
        #expect(playlist.targetDuration == MediaTime(seconds: expected.targetDuration))
        try #require(playlist.segments.count == expected.segments.count)
        for (segment, meant) in zip(playlist.segments, expected.segments) {
            #expect(segment.uri == meant.uri && segment.title == meant.title)
            #expect(segment.duration == MediaTime(value: meant.nanoseconds, timescale: 1_000_000_000))
            #expect(segment.byteRange == meant.byteRange)
            #expect(segment.sequence == expected.mediaSequence + Int64(segment.position))
            #expect(segment.discontinuitySequence == expected.discontinuitySequence + meant.discontinuities)
            #expect(segment.isGap == meant.isGap)
            let kilobits = meant.byteRange == nil ? meant.kilobits : nil
            #expect(segment.bitRate?.bitsPerSecond == kilobits.map { $0 * 1_000 })
            #expect(segment.map?.uri == meant.map)
            #expect(Dictionary(uniqueKeysWithValues: segment.keys.map { ($0.keyFormat, $0.uri) }) == meant.keys)
            #expect(
                segment.programDateTime?.sinceEpoch
                    == meant.date.map { MediaTime(value: $0, timescale: 1_000_000_000) }
            )
        }
    }

    @Test(arguments: seeds)
    func generatedMultivariantPlaylistParsesToExpectedValues(seed: UInt64) throws {
        let expected = GeneratedMultivariantPlaylist(seed: seed)
        let playlist = try MultivariantPlaylist(parsing: expected.bytes)
        func meaning(_ variant: Variant) -> GeneratedMultivariantPlaylist.Variant {
            GeneratedMultivariantPlaylist.Variant(
                uri: variant.uri,
                bandwidth: variant.bandwidth?.bitsPerSecond ?? -1,
                resolution: variant.resolution?.description,
                codecs: variant.codecs,
                audio: variant.groupID(.audio)
            )
        }
        #expect(playlist.variants.map(meaning) == expected.variants)
        #expect(playlist.iFrameVariants.map(meaning) == expected.iFrameVariants)
        #expect(
            playlist.renditions.map {
                GeneratedMultivariantPlaylist.Rendition(
                    groupID: $0.groupID,
                    name: $0.name,
                    uri: $0.uri,
                    isDefault: $0.isDefault
                )
            } == expected.renditions
        )
    }

    /// A conforming playlist causes no diagnostics of severity error.
    @Test(arguments: seeds)
    func conformingPlaylistHasNoErrors(seed: UInt64) throws {
        for bytes in [GeneratedMediaPlaylist(seed: seed).bytes, GeneratedMultivariantPlaylist(seed: seed).bytes] {
            #expect(try Playlist.parse(bytes).diagnostics.filter { $0.severity == .error } == [])
        }
    }

    @Test(arguments: seeds)
    func generatedPlaylistsRoundTrip(seed: UInt64) throws {
        for bytes in [GeneratedMediaPlaylist(seed: seed).bytes, GeneratedMultivariantPlaylist(seed: seed).bytes] {
            let playlist = try Playlist.parse(bytes)
            #expect(playlist.bytes == bytes)
            let again = try Playlist.parse(playlist.bytes)
            #expect(PlaylistReading(again).lines == PlaylistReading(playlist).lines)
            #expect(again.report.json == playlist.report.json)
        }
    }

    @Test(arguments: seeds)
    func durationsAddUpExactly(seed: UInt64) throws {
        let playlist = try MediaPlaylist(parsing: GeneratedMediaPlaylist(seed: seed).bytes)
        var sum = MediaTime.zero
        for segment in playlist.segments {
            #expect(segment.start == sum)
            #expect(playlist.segments.timeRange(at: segment.position) == segment.timeRange)
            sum += segment.duration
        }
        #expect(playlist.duration == sum)
    }

    @Test(arguments: seeds)
    func timeMapsToSegmentThatContainsIt(seed: UInt64) throws {
        let segments = try MediaPlaylist(parsing: GeneratedMediaPlaylist(seed: seed).bytes).segments
        let instant = MediaTime(value: 1, timescale: 1_000_000_000)
        for (position, segment) in segments.enumerated() where !segment.timeRange.isEmpty {
            let range = segment.timeRange
            #expect(segments.position(at: range.start) == position)
            #expect(segments.position(at: range.end - instant) == position)
        }
        let end = segments.last?.timeRange.end ?? .zero
        #expect(segments.position(at: end) == nil && segments.position(at: end + instant) == nil)
        #expect(segments.position(at: .zero - instant) == nil)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let time = MediaTime(
                value: Int64.random(in: 0...600_000_000_000, using: &generator),
                timescale: 1_000_000_000
            )
            let position = segments.position(at: time)
            #expect((position == nil) == (time >= end))
            if let position { #expect(segments[position].timeRange.contains(time)) }
        }
    }

    /// The timeline has a resolution of one nanosecond: durations with more digits are rounded up or down.
    @Test(arguments: [10, 12, 15, 17])
    func durationsWithMoreDigitsAreRoundedToNanoseconds(digits: Int) throws {
        var generator = SeededGenerator(seed: UInt64(digits))
        var text = "#EXTM3U\n"
        for _ in 0..<500 {
            let fraction = (0..<digits).map { _ in "\(Int.random(in: 0...9, using: &generator))" }.joined()
            text += "#EXTINF:2.\(fraction),\na.ts\n"
        }
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        for segment in playlist.segments {
            #expect(segment.duration.description.count <= digits + 2)
            let counted = playlist.segments.timeRange(at: segment.position).duration
            let difference = counted < segment.duration ? segment.duration - counted : counted - segment.duration
            #expect(difference <= MediaTime(value: 1, timescale: 2_000_000_000))
        }
    }

    /// Compares the sums with those of Foundation's `Decimal`, an independent implementation.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func corpusDurationsEqualDecimalSums() throws {
        var checked = 0
        for file in try SharedCorpus.files(below: "corpus/hls", extensions: ["m3u8"]) {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard let playlist = try? MediaPlaylist(parsing: bytes) else { continue }
            var pending: Decimal?
            var sum = Decimal(0)
            var hasFineDigits = false
            for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
                if line.hasPrefix("#EXTINF:") {
                    let digits = line.dropFirst(8).prefix { $0 != "," }.trimmingCharacters(in: .whitespaces)
                    hasFineDigits = hasFineDigits || digits.drop { $0 != "." }.count > 10
                    pending = Decimal(string: digits)
                } else if !line.hasPrefix("#") {
                    sum += max(pending ?? 0, 0)
                    pending = nil
                }
            }
            if !hasFineDigits {
                #expect(Decimal(string: playlist.duration.description) == sum, "\(file.path)")
                checked += 1
            }
        }
        #expect(checked >= 380)
    }
}
