import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// An error of a type that the package does not know.
private struct OtherError: Error {}

/// Tests the text of selections, the options as the catalog stores them, and the conversion of errors.
@Suite struct DownloadOptionsTests {
    // MARK: Selections

    @Test(arguments: [
        "variants=best&audio=all&subtitles=all", "variants=all&audio=default&subtitles=none",
        "variants=lowest&audio=en,ko&subtitles=de", "variants=none&audio=all&subtitles=all",
        "min-bandwidth=9&audio=all&subtitles=all", "max-height=720&audio=all&subtitles=all",
        "min-size=2x1&audio=none&subtitles=all&qualifier=height<=5&qualifier=channels>=6",
        "variants=best&audio=all&subtitles=all&prefer-multichannel=true",
        "variants=best&audio=all&subtitles=all&prefer-lossless=true",
        "variants=best&audio=all&subtitles=all&range=1...2", "variants=best&audio=all&subtitles=all&range=...2",
        "variants=best&audio=all&subtitles=all&range=4...", "variants=best&audio=all&subtitles=all&edit=exclude=cues",
    ])
    func selectionIsCreatedFromItsText(text: String) {
        #expect(DownloadSelection(text)?.description == text)
    }

    /// The defaults are those of a command without options.
    @Test(
        arguments: [
            ("variants=best&audio=default&subtitles=all", true), ("max-height=720&audio=default&subtitles=all", true),
            ("max-height=720&audio=en&subtitles=none", true), ("variants=best&audio=en&subtitles=all", true),
            ("max-height=360&audio=default&subtitles=all", false), ("variants=lowest&audio=en&subtitles=none", false),
            ("variants=best&audio=ko&subtitles=all", false), ("variants=best&audio=all&subtitles=all", false),
            ("variants=best&audio=default&subtitles=en", false),
            ("variants=best&audio=default&subtitles=all&qualifier=height<=5", false),
            ("variants=best&audio=default&subtitles=all&prefer-multichannel=true", false),
            ("variants=best&audio=default&subtitles=all&prefer-lossless=true", false),
            ("variants=best&audio=default&subtitles=all&edit=exclude=cues", false),
        ] as [(String, Bool)]
    )
    func partsThatAreNotTheDefaultAreCompared(text: String, agrees: Bool) throws {
        let stored = try #require(DownloadSelection("max-height=720&audio=en&subtitles=none"))
        let selection = try #require(DownloadSelection(text))
        #expect(selection.agrees(with: stored, besides: DownloadSelection(audio: .defaults)) == agrees)
    }

    @Test func separatorsInNamesAreEncoded() {
        let selection = DownloadSelection(audio: .some(["en:A,B%C&D=E", "ko"]), subtitles: .none)
        #expect(DownloadSelection(selection.description) == selection)
    }

    @Test func preferencesCanBeFalse() throws {
        let selection = try #require(DownloadSelection("prefer-multichannel=false&prefer-lossless=false"))
        #expect(!selection.prefersMultichannelAudio && !selection.prefersLosslessAudio)
        // What the text leaves out has the default.
        #expect(selection == DownloadSelection())
    }

    @Test(arguments: [
        "variants", "variants=x", "variants=best&unknown=1", "min-bandwidth=x", "max-height=x", "min-size=2", "audio=",
        "subtitles=", "qualifier=x", "range=x", "range=2...1", "edit=nothing", "audio=%ff",
    ])
    func otherTextIsNoSelection(text: String) {
        #expect(DownloadSelection(text) == nil)
    }

    // MARK: Options

    @Test func optionsAreRestored() throws {
        var configuration = DownloadConfiguration(
            selection: DownloadSelection(variants: .lowest),
            maximumConcurrentFetches: 3,
            limits: DownloadLimits(
                fileSize: ByteCount(1),
                assetSize: ByteCount(2),
                playlistSize: ByteCount(3),
                freeSpace: ByteCount(4)
            )
        )
        configuration.furtherSelections = [DownloadSelection(variants: .all), .standard]
        configuration.replacesStoredSegments = true
        configuration.maximumRate = BitRate(bitsPerSecond: 5_000)
        configuration.acceptedNetworks = .constrained
        configuration.recording = RecordingOptions(startsFromBeginning: true, waitsForStream: false)
        #expect(DownloadConfiguration(stored: try configuration.stored) == configuration)
        configuration.recording = RecordingOptions(duration: MediaTime(seconds: 5), waitsForStream: true)
        #expect(DownloadConfiguration(stored: try configuration.stored) == configuration)
        #expect(
            configuration.selections == [
                DownloadSelection(variants: .lowest), DownloadSelection(variants: .all), .standard,
            ]
        )
    }

    private static func json(_ selections: String) -> Data {
        Data(
            #"{"selections":[\#(selections)],"fetches":2,"fileSize":1,"assetSize":2,"playlistSize":3,"freeSpace":4}"#
                .utf8
        )
    }

    @Test func optionsOfAnEarlierVersionHaveDefaults() throws {
        let found = try #require(
            DownloadConfiguration(stored: Self.json(#""variants=lowest&audio=all&subtitles=all""#))
        )
        #expect(found.selection == DownloadSelection(variants: .lowest) && found.furtherSelections.isEmpty)
        #expect(found.maximumConcurrentFetches == 2 && found.limits.freeSpace == ByteCount(4))
        #expect(!found.replacesStoredSegments && found.maximumRate == nil && found.recording == nil)
        #expect(found.acceptedNetworks == [.expensive, .constrained, .cellular])
    }

    @Test(arguments: [
        "", #""variants=new""#, #""variants=best","variants=new""#, #""variants=new","variants=best""#, "1",
    ])
    func optionsOfANewerVersionAreNotRestored(selections: String) {
        #expect(DownloadConfiguration(stored: Self.json(selections)) == nil)
    }

    // MARK: Errors

    @Test(
        arguments: [
            (.live, -11_862), (.notAPlaylist, -11_828), (.contentProtected, -11_831), (.damaged, -11_821),
            (.nothingSelected, -11_869), (.transport, -11_849), (.canceled, -11_878), (.tooLarge, nil), (.storage, nil),
        ] as [(DownloadError.Code, Int?)]
    )
    func codesHaveTheNumbersOfAVFoundation(code: DownloadError.Code, number: Int?) {
        #expect(code.number == number)
    }

    @Test(
        arguments: [
            (TransportError(.unreadableManifest, "it happened"), .notAPlaylist),
            (TransportError(.untranslatable, "it happened"), .notAPlaylist),
            (TransportError(.status, "it happened", status: 404), .transport),
            (StorageError(.full, "it happened"), .storage),
            (DownloadError(.live, "it happened"), .live),
        ] as [(any Error, DownloadError.Code)]
    )
    func errorsAreConverted(error: any Error, code: DownloadError.Code) {
        let converted = DownloadError(any: error)
        #expect(converted.code == code && converted.message.hasPrefix("it happened"))
    }

    @Test func otherErrorsAreUnknown() {
        let converted = DownloadError(any: OtherError())
        #expect(converted.code == .unknown && converted.message.hasPrefix("the download failed ("))
        #expect(converted.cause is OtherError)
    }

    @Test(arguments: [("too-large", DownloadError.Code.tooLarge), ("code-of-a-newer-version", .unknown)])
    func storedErrorsAreRestored(code: String, expected: DownloadError.Code) {
        let failure = DownloadRecord.Failure(code: code, detail: "exactly", message: "it happened")
        let error = DownloadError(failure)
        #expect(error.code == expected && error.detail == "exactly" && error.message == "it happened")
        #expect(
            error.stored == DownloadRecord.Failure(code: expected.rawValue, detail: "exactly", message: "it happened")
        )
    }

    // MARK: Streams that have not begun

    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

    /// The number of reports that a recording waits, and the time at which the stream was available.
    private struct Waiting {
        var reportCount = 0
        var resolutionTime: Duration?
    }

    /// Records a stream whose first two responses are others.
    private func record(after response: ScriptedTransport.Response, waits: Bool = true) async throws -> Waiting {
        let temporary = try TemporaryLibrary()
        defer { withExtendedLifetime(temporary) {} }
        let origin = ScriptedTransport(texts: ["https://live.example/0.ts": "media"])
        origin.setResponses(for: Self.source.text, response, response, .text(Self.playlist))
        let time = QuickTime()
        let waiting = Mutex(Waiting())
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions(waitsForStream: waits)
        let asset = try await AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: time
        ).run { event in
            if case .waiting = event { waiting.withLock { $0.reportCount += 1 } }
            if case .resolved = event { waiting.withLock { $0.resolutionTime = time.now } }
        }
        #expect(asset.state == .complete)
        return waiting.withLock { $0 }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (.status, 404), (.status, 410), (.status, 500), (.status, 503), (.cannotConnect, nil),
            (.connectionLost, nil), (.timedOut, nil), (.unknownHost, nil), (.fileNotFound, nil),
        ] as [(TransportError.Code, Int?)]
    )
    func recordingWaitsForAStreamThatMayBegin(code: TransportError.Code, status: Int?) async throws {
        let waiting = try await record(after: .failure(TransportError(code, "no", status: status)))
        // It is reported once, and the stream is requested again every ten seconds.
        #expect(waiting.reportCount == 1 && waiting.resolutionTime == .seconds(20))
    }

    @Test(.timeLimit(.minutes(5))) func recordingWaitsForTheFirstSegment() async throws {
        let waiting = try await record(after: .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n"))
        #expect(waiting.reportCount == 1 && waiting.resolutionTime == .seconds(20))
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [(.status, 403), (.status, 499), (.wrongContent, nil)] as [(TransportError.Code, Int?)]
    )
    func recordingDoesNotWaitAfterOtherErrors(code: TransportError.Code, status: Int?) async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await record(after: .failure(TransportError(code, "no", status: status)))
        }
        #expect(error?.code == .transport)
    }

    @Test(.timeLimit(.minutes(5))) func recordingThatDoesNotWaitFails() async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await record(after: .failure(TransportError(.status, "no", status: 404)), waits: false)
        }
        #expect(error?.detail == "http-status")
        let empty = await #expect(throws: DownloadError.self) {
            try await record(after: .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n"), waits: false)
        }
        #expect(empty?.detail == "not-begun")
    }
}
