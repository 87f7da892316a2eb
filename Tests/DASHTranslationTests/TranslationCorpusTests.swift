import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SharedCorpus
import Testing

/// Translates the manifests of other projects.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct TranslationCorpusTests {
    /// Returns an index of ten segments for a file whose index is not part of the corpus.
    private func index(of resource: AddressedResource) -> IndexedFile {
        let start = resource.byteRange?.end ?? 1_000
        let segments = (0..<10).compactMap { number in
            ByteRange(start: start + 500_000 * number, length: 500_000).map { range in
                IndexedSegment(time: MediaTime(seconds: 4 * number), duration: 4, byteRange: range)
            }
        }
        return IndexedFile(segments, initialization: ByteRange(start: 0, length: 900))
    }

    /// Returns a time of day at which segments of a presentation are available.
    private func time(of presentation: MediaPresentation) -> MediaTime {
        let origin = presentation.availabilityStartTime?.sinceEpoch ?? .zero
        let start = presentation.periods.compactMap(\.start).max() ?? .zero
        let published = presentation.publishTime?.sinceEpoch ?? .zero
        return max(published, origin + start + MediaTime(seconds: 60))
    }

    /// Every manifest is translated to valid playlists, or refused with a reason.
    @Test func translationsOfTheCorpusAreValid() throws {
        var translated = 0
        var refusals: [String: Int] = [:]
        for file in try SharedCorpus.files(below: "corpus/dash", extensions: ["mpd"]) {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard
                let presentation = try? MediaPresentation(
                    parsing: bytes.span,
                    address: ResourceAddress("https://example.test/a/manifest.mpd")
                )
            else { continue }
            var translator = PresentationTranslator()
            let now = time(of: presentation)
            do {
                let required = try translator.requiredIndexes(of: presentation, at: now)
                let indexes = Dictionary(required.map { ($0, index(of: $0)) }, uniquingKeysWith: { first, _ in first })
                let result = try translator.translate(presentation, indexes: indexes, at: now)
                translated += 1
                #expect(violations(of: result) == [], "\(file.path)")
                for entry in result.playlists {
                    let playlist = try entry.playlist
                    #expect(!playlist.segments.isEmpty, "\(file.path)")
                    #expect(entry.segmentCount == playlist.segments.count, "\(file.path)")
                    #expect(entry.duration == playlist.duration, "\(file.path)")
                    #expect(entry.hasEndMarker == playlist.hasEndMarker, "\(file.path)")
                    // What is written is what is parsed, in the canonical form.
                    let canonical = try Playlist.media(playlist).canonical()
                    let isCanonical = canonical.bytes == entry.bytes
                    #expect(isCanonical, "\(file.path) \(entry.fileName)")
                }
                // In the canonical form, attributes have another order.
                let canonical = try Playlist.multivariant(result.multivariant).canonical()
                #expect(canonical.bytes.count == result.multivariant.bytes.count, "\(file.path)")
            } catch let error as TranslationError {
                refusals[Self.reason(error), default: 0] += 1
            }
        }
        #expect(translated > 350)
        #expect(refusals == Self.refusals)
    }

    /// The reasons for which presentations are refused, each with the number of manifests: examples without
    /// representations, initialization segments or complete templates, and live presentations without segments.
    private static let refusals: [String: Int] = [
        "no segment of the presentation is available yet": 2,
        "a representation has no initialization segment": 12,
        "a representation has no segments (incomplete-template)": 19,
        "a representation has no segments (no-segment-information)": 7,
        "an adaptation set has no type": 1,
        "an adaptation set requires the unknown property urn:mpeg:dash:ssr:2023": 1,
        "an adaptation set requires the unknown property urn:mpeg:dash:urlparam:2014": 3,
        "an adaptation set requires the unknown property urn:mpeg:dash:urlparam:2016": 1,
        "it has no video and no audio": 24,
        "representation “0” has the type application/ttml+xml": 3,
        "representation “0” has the type audio/webm": 1,
        "representation “140” is protected and cannot be played": 1,
        "representation “video1/1” has the type video/mp4 profiles='cmfc'": 1,
        "the duration of a period is not known": 1,
        "the segments of representation “0” for trick play have several frames": 1,
    ]

    private static func reason(_ error: TranslationError) -> String {
        guard case .nothingToPlay(let reason) = error else { return "\(error)" }
        return reason
    }

    private static let packager = "Pluto-tv__shaka-packager-live/packager/app/test/testdata"

    /// The packager wrote each of these presentations for HLS and for DASH: the same segments, durations and maps.
    @Test func mediaPlaylistsEqualThoseOfThePackager() throws {
        let base = ResourceAddress("https://example.test/")
        var compared = 0
        let playlists = try SharedCorpus.files(below: "corpus/hls/\(Self.packager)", extensions: ["m3u8"])
        for manifest in try SharedCorpus.files(below: "corpus/dash/\(Self.packager)", extensions: ["mpd"]) {
            let folder = manifest.deletingLastPathComponent().lastPathComponent
            let others = playlists.filter { $0.deletingLastPathComponent().lastPathComponent == folder }
            guard !others.isEmpty else { continue }
            let bytes = [UInt8](try Data(contentsOf: manifest))
            let presentation = try MediaPresentation(parsing: bytes.span, address: base.resolving("output.mpd"))
            var translator = PresentationTranslator()
            let now = time(of: presentation)
            let models = try others.compactMap { file -> MediaPlaylist? in
                let other = try Playlist.parse(
                    [UInt8](Data(contentsOf: file)),
                    context: PlaylistContext(address: base.resolving(file.lastPathComponent))
                )
                guard case .media(let playlist) = other, !playlist.isIFramesOnly, !playlist.segments.isEmpty else {
                    return nil
                }
                return playlist
            }
            // The index of a file is that from which the packager made its playlist.
            var indexes: [AddressedResource: IndexedFile] = [:]
            for resource in (try? translator.requiredIndexes(of: presentation, at: now)) ?? [] {
                let model = models.first { $0.segments[0].address == resource.address }
                indexes[resource] = model.map { model in
                    let segments = model.segments.compactMap { segment in
                        segment.byteRange.map {
                            IndexedSegment(time: segment.start, duration: segment.duration, byteRange: $0)
                        }
                    }
                    return IndexedFile(segments)
                }
            }
            guard let result = try? translator.translate(presentation, indexes: indexes, at: now) else { continue }
            for playlist in models {
                let first = playlist.segments[0]
                let lists = try result.playlists.map { try $0.playlist }
                guard let own = lists.first(where: { $0.segments[0].address == first.address }) else { continue }
                compared += 1
                #expect(own.segments.map(\.address) == playlist.segments.map(\.address), "\(folder)")
                #expect(own.segments.map(\.byteRange) == playlist.segments.map(\.byteRange), "\(folder)")
                #expect(own.segments[0].map?.address == first.map?.address, "\(folder)")
                #expect(own.segments[0].map?.byteRange == first.map?.byteRange, "\(folder)")
                let difference = own.duration - playlist.duration
                #expect(difference < MediaTime(value: 1, timescale: 50), "\(folder)")
                #expect(MediaTime(value: -1, timescale: 50) < difference, "\(folder)")
            }
        }
        #expect(compared >= 14)
    }

    /// The manifest of the founding document: 159 segments, the last of which is shorter.
    @Test func onDemandPlaylistOfConstantDurationEndsWithTheShorterRest() throws {
        let bytes = try SharedCorpus.bytes("corpus/dash/seed/bbb_30fps.mpd")
        let result = try translate(
            MediaPresentation(parsing: bytes.span, address: ResourceAddress("https://example.test/a/bbb.mpd"))
        )
        #expect(result.playlists.count == 4)
        for entry in result.playlists {
            let segments = try entry.playlist.segments
            #expect(segments.count == 159)
            #expect(segments.dropLast().allSatisfy { $0.duration == 4 })
            #expect(segments.last?.duration == MediaTime(value: 2_566, timescale: 1_000))
            #expect(try entry.playlist.targetDuration == 4)
            let id = entry.track.representationID
            #expect(segments.first?.uri == "https://example.test/a/\(id)/\(id)_1.m4v")
            #expect(segments.first?.map?.uri == "https://example.test/a/\(id)/\(id)_0.m4v")
        }
    }
}
