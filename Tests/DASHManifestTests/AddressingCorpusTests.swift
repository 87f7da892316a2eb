import DASHManifest
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SharedCorpus
import Testing

/// Compares segment lists with those that other programs made of the same media.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct AddressingCorpusTests {
    private static let packager = "Pluto-tv__shaka-packager-live/packager/app/test/testdata"
    private static let base = ResourceAddress("https://example.test/")

    /// A media playlist of the packager, with the name of its folder.
    private struct Judge {
        let folder: String
        let playlist: MediaPlaylist
    }

    private func mediaPlaylists() throws -> [Judge] {
        try SharedCorpus.files(below: "corpus/hls/\(Self.packager)", extensions: ["m3u8"]).compactMap { file in
            let playlist = try Playlist.parse(
                [UInt8](Data(contentsOf: file)),
                context: PlaylistContext(address: Self.base.resolving(file.lastPathComponent))
            )
            guard case .media(let media) = playlist, !media.isIFramesOnly, !media.segments.isEmpty else { return nil }
            return Judge(folder: file.deletingLastPathComponent().lastPathComponent, playlist: media)
        }
    }

    /// The packager wrote each of these presentations for HLS and for DASH.
    @Test func segmentsEqualThoseOfThePackagersPlaylists() throws {
        let judges = try mediaPlaylists()
        var (templates, files) = (0, 0)
        var unmatched: [String] = []
        for manifest in try SharedCorpus.files(below: "corpus/dash/\(Self.packager)", extensions: ["mpd"]) {
            let folder = manifest.deletingLastPathComponent().lastPathComponent
            let judges = judges.filter { $0.folder == folder }
            guard !judges.isEmpty else { continue }
            let presentation = try parseManifest(at: manifest, address: Self.base.resolving("output.mpd"))
            for period in presentation.periods {
                for set in period.adaptationSets {
                    for representation in set.representations {
                        let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
                        let first = addressing.index?.address ?? addressing.segment(at: 0)?.resource.address
                        let judge = judges.first { $0.playlist.segments[0].address == first }
                        guard let playlist = judge?.playlist else {
                            unmatched.append("\(folder): \(first?.text ?? "-")")
                            continue
                        }
                        if let index = addressing.index {
                            compare(addressing, index, with: playlist)
                            files += 1
                        } else {
                            compare(addressing, with: playlist, "\(folder)")
                            templates += 1
                        }
                    }
                }
            }
        }
        #expect(templates == 10)
        #expect(files == 14)
        #expect(Set(unmatched) == Self.unmatched)
    }

    /// The first segments of representations that the packager wrote for DASH only or, for HLS, as plain WebVTT.
    private static let unmatched: Set<String> = [
        "segmented-webvtt-with-language-override: https://example.test/bear-english-text-1.m4s",
        "hls-only-dash-only: https://example.test/bear-640x360-audio.mp4",
    ]

    private func compare(_ addressing: SegmentAddressing, with playlist: MediaPlaylist, _ name: String) {
        let segments = addressing.segments
        #expect(segments.map(\.resource.address) == playlist.segments.map(\.address), "\(name)")
        #expect(addressing.initialization?.address == playlist.segments[0].map?.address, "\(name)")
        for (ours, theirs) in zip(segments, playlist.segments) {
            // The packager writes three decimal places, which it does not round.
            let difference = ours.duration - theirs.duration
            #expect(difference < MediaTime(value: 2, timescale: 1_000), "\(name)")
            #expect(MediaTime(value: -2, timescale: 1_000) < difference, "\(name)")
        }
    }

    /// Compares a file with a segment index, whose segments follow the index.
    private func compare(_ addressing: SegmentAddressing, _ index: AddressedResource, with playlist: MediaPlaylist) {
        let first = playlist.segments[0]
        #expect(first.byteRange?.start == index.byteRange?.end)
        #expect(first.map?.byteRange == addressing.initialization?.byteRange)
        #expect(first.map?.address == addressing.initialization?.address)
    }

    /// The model of the CMAF ham library for the same manifests.
    ///
    /// Its authors do not shorten the last segment of a constant duration, and round durations of sample 2.
    @Test(arguments: 0...3) func segmentsEqualThoseOfTheHamModel(_ sample: Int) throws {
        let folder = "corpus/dash/streaming-video-technology-alliance__common-media-library/libs/cmaf-ham/test/data"
        let presentations = try JSONDecoder().decode(
            [HamPresentation].self,
            from: Data(SharedCorpus.bytes("\(folder)/ham-samples/fromDash/ham\(sample).json"))
        )
        let manifest = try SharedCorpus.bytes("\(folder)/dash-samples/sample-\(sample)/manifest.mpd")
        let tracks = presentations.flatMap(\.selectionSets).flatMap(\.switchingSets).flatMap(\.tracks)
        let presentation = try MediaPresentation(parsing: manifest.span)
        var compared = 0
        for period in presentation.periods {
            for set in period.adaptationSets {
                for representation in set.representations {
                    guard let track = tracks.first(where: { $0.id == representation.id }) else { continue }
                    let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
                    compared += 1
                    if let index = addressing.index, let range = track.segments.first?.byteRange {
                        #expect(index.address.text == track.segments.first?.url)
                        #expect(index.byteRange == ByteRange(start: range.start, length: range.end - range.start + 1))
                        continue
                    }
                    #expect(addressing.initialization?.address.text == track.initialization?.url)
                    let segments = addressing.segments
                    // The audio of sample 1 declares 94 s, of which the period has 50 s.
                    let count = sample == 1 && track.id == "2" ? 3 : track.segments.count
                    #expect(
                        segments.map(\.resource.address.text) == track.segments.prefix(count).map(\.url),
                        "\(track.id)"
                    )
                }
            }
        }
        #expect(compared == tracks.count)
    }

    private struct HamPresentation: Decodable {
        let selectionSets: [SelectionSet]

        struct SelectionSet: Decodable { let switchingSets: [SwitchingSet] }
        struct SwitchingSet: Decodable { let tracks: [Track] }
        struct Track: Decodable {
            let id: String
            let segments: [Segment]
            let initialization: Resource?
        }
        struct Segment: Decodable {
            let url: String
            let byteRange: Range?
        }
        struct Resource: Decodable { let url: String }
        struct Range: Decodable {
            let start: Int64
            let end: Int64
        }
    }

    /// Every representation of the corpus has segments, needs an index, or names the reason for which it has neither.
    @Test func everyRepresentationIsAddressedOrHasAReason() throws {
        var faults: [String: Int] = [:]
        var addressed = 0
        for file in try SharedCorpus.files(below: "corpus/dash", extensions: ["mpd"]) {
            guard let presentation = try? parseManifest(at: file) else { continue }
            for period in presentation.periods {
                for set in period.adaptationSets {
                    for representation in set.representations {
                        let addressing = SegmentAddressing(of: representation, in: set, of: period, in: presentation)
                        if let fault = addressing.fault {
                            faults[fault.rawValue, default: 0] += 1
                        } else if addressing.needsIndex || addressing.segment(at: 0) != nil {
                            addressed += 1
                        } else {
                            faults["empty", default: 0] += 1
                        }
                    }
                }
            }
        }
        #expect(addressed > 1_900)
        #expect(faults == Self.faults)
    }

    /// The numbers of representations without segments: examples of other parts of a manifest, templates without a
    /// duration or media, and periods or lists without contents.
    private static let faults: [String: Int] = [
        "no-segment-information": 30, "incomplete-template": 26, "empty": 6,
    ]
}
