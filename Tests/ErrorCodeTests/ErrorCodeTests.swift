import Adaptation
import AssetStorage
import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaDecoding
import MediaOutput
import MediaTransport
import Millstream
import MillstreamDownloads
import MillstreamServer
import NetworkConditioning
import PlaybackReporting
import PlaylistEditing
import PresentationLoading
import ReportFormat
import ResourceAddressing
import SegmentFormat
import StreamingEngine
import Testing
import XMLReading

/// A type of errors, and its codes with their spellings and numbers.
private struct ErrorType {
    let name: String
    let codes: [(spelling: String, number: Int?)]

    init<Failure: MillstreamError>(_ type: Failure.Type, name: String? = nil) {
        self.name = name ?? "\(type)"
        codes = Failure.Code.allCases.map { ($0.rawValue, $0.number) }
    }

    static let all = [
        ErrorType(MediaDecoding.DecodingError.self), ErrorType(DownloadError.self), ErrorType(ExtendedLogError.self),
        ErrorType(LinkProfileError.self), ErrorType(ListeningError.self), ErrorType(ManifestParsingError.self),
        ErrorType(ManifestPatchError.self), ErrorType(MediaFormatError.self),
        ErrorType(MediaPipelineError.self), ErrorType(OutputError.self), ErrorType(PlayerError.self),
        ErrorType(PlaylistEditError.self), ErrorType(PlaylistParsingError.self), ErrorType(PlaylistUpdateError.self),
        ErrorType(ReportLimitError.self), ErrorType(ServerSecret.ReadingError.self, name: "ServerSecret.ReadingError"),
        ErrorType(OwnerCredentials.ReadingError.self, name: "OwnerCredentials.ReadingError"),
        ErrorType(ServerCertificate.ReadingError.self, name: "ServerCertificate.ReadingError"),
        ErrorType(SigningError.self),
        ErrorType(SizedLadderError.self), ErrorType(StateFileError.self), ErrorType(StorageError.self),
        ErrorType(StreamCatalog.ReadingError.self, name: "StreamCatalog.ReadingError"),
        ErrorType(StreamingError.self), ErrorType(TranslationError.self), ErrorType(TransportError.self),
        ErrorType(XMLReadingError.self),
    ]
}

/// Tests the codes of all errors, their numbers, and the table of them in `docs/errors.md`.
@Suite struct ErrorCodeTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The numbers of the errors of AVFoundation that the errors of the package correspond to, with their names there.
    private static let names = [
        -11_801: "outOfMemory", -11_807: "diskFull", -11_819: "mediaServicesWereReset", -11_821: "decodeFailed",
        -11_822: "invalidSourceMedia", -11_828: "fileFormatNotRecognized", -11_829: "fileFailedToParse",
        -11_831: "contentIsProtected", -11_832: "noImageAtTime", -11_833: "decoderNotFound",
        -11_835: "contentIsNotAuthorized", -11_849: "failedToLoadMediaData", -11_850: "serverIncorrectlyConfigured",
        -11_853: "failedToParse", -11_862: "operationNotAllowed", -11_863: "contentIsUnavailable",
        -11_864: "formatUnsupported", -11_866: "contentNotUpdated", -11_867: "noLongerPlayable",
        -11_869: "noSourceTrack", -11_878: "operationCancelled",
    ]

    /// Returns the rows of the table.
    private static var rows: [String] {
        ErrorType.all.flatMap { type in
            type.codes.map { code in
                let number = code.number.map { "\($0) `\(names[$0] ?? "?")`" } ?? ""
                return "| `\(type.name)` | `\(code.spelling)` | \(number) |".replacing("|  |", with: "| |")
            }
        }
    }

    @Test func theTableOfErrorsIsThatOfTheSource() throws {
        let text = try String(contentsOf: Self.root.appending(path: "docs/errors.md"), encoding: .utf8)
        let documented = text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
        #expect(documented == Self.rows, "write:\n\(Self.rows.joined(separator: "\n"))")
    }

    @Test func theErrorsHaveTheNumbersOfAVFoundation() {
        let numbers = Set(ErrorType.all.flatMap { $0.codes.compactMap(\.number) })
        #expect(numbers == Set(Self.names.keys))
    }

    @Test(
        arguments: [
            (TransportError.Code.status.number, -11_849), (TransportError.Code.cannotConnect.number, -11_863),
            (TransportError.Code.addressRefused.number, -11_862), (StreamingError.Code.notRecognized.number, -11_828),
            (StreamingError.Code.needsTranslation.number, -11_850),
            (StreamingError.Code.unreadablePlaylist.number, -11_853), (StreamingError.Code.unsupported.number, -11_833),
            (StreamingError.Code.protected.number, -11_831), (StreamingError.Code.notLoaded.number, -11_849),
            (StreamingError.Code.unreachable.number, -11_863), (StreamingError.Code.keyNotLoaded.number, -11_835),
            (StreamingError.Code.stuck.number, -11_866), (StreamingError.Code.unreadableFile.number, -11_829),
            (StreamingError.Code.invalidFile.number, -11_822),
            (StreamingError.Code.incompleteFile.number, -11_829), (StreamingError.Code.damaged.number, -11_821),
            (StreamingError.Code.pipelineLost.number, -11_819), (StorageError.Code.notFound.number, -11_867),
            (StorageError.Code.damaged.number, -11_867), (StorageError.Code.full.number, -11_807),
            (PlayerError.Code.mediaServicesLost.number, -11_819), (PlayerError.Code.cancelled.number, -11_878),
            (MediaFormatError.Code.malformed.number, -11_829), (MediaFormatError.Code.missing.number, -11_822),
            (MediaFormatError.Code.tooLarge.number, -11_864), (OutputError.Code.noFrame.number, -11_832),
            (MediaDecoding.DecodingError.Code.outOfMemory.number, -11_801),
            (MediaDecoding.DecodingError.Code.diskFull.number, -11_807), (OutputError.Code.diskFull.number, -11_807),
            (DownloadError.Code.nothingSelected.number, -11_869),
            (PlaylistParsingError.Code.dashManifest.number, -11_850),
            (PlaylistUpdateError.Code.segmentsMissing.number, -11_866),
            (XMLReadingError.Code.malformed.number, -11_829),
        ] as [(Int?, Int)]
    )
    func aCodeHasItsNumber(number: Int?, expected: Int) { #expect(number == expected) }

    @Test func codesOfATypeAreDifferentAndContainNoSpaces() {
        for type in ErrorType.all {
            let spellings = type.codes.map(\.spelling)
            #expect(Set(spellings).count == spellings.count, "\(type.name)")
            #expect(spellings.allSatisfy { !$0.isEmpty && !$0.contains(/[^A-Za-z-]/) }, "\(type.name)")
        }
    }

    // MARK: Sources

    /// The contents of the source files of the targets, by path.
    private static func sources() throws -> [String: String] {
        let folder = root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.reduce(into: [:]) {
            $0[$1.path] = try String(contentsOf: $1, encoding: .utf8)
        }
    }

    @Test func everyPublicErrorHasACodeAMessageAnAddressAndACause() throws {
        var declared: Set<String> = []
        for (path, text) in try Self.sources() where !path.contains("/millstream-cli/") {
            for match in text.matches(of: /(?:public|package) (?:struct|enum|final class) (\w*Error): ([^{]*)\{/) {
                #expect(match.output.2.contains("MillstreamError"), "\(match.output.1) in \(path)")
                declared.insert(String(match.output.1))
            }
            for match in text.matches(of: /public (?:struct|enum) (\w+): (?:[^{\n]*, )?(?:Error|LocalizedError)\b/) {
                Issue.record("\(match.output.1) in \(path) is no MillstreamError")
            }
        }
        let listed = Set(ErrorType.all.compactMap { $0.name.split(separator: ".").last.map(String.init) })
        #expect(declared == listed)
    }

    @Test func everyCodeIsListed() throws {
        let listed = Dictionary(grouping: ErrorType.all, by: \.name).mapValues {
            Set($0.flatMap(\.codes).map(\.spelling))
        }
        for (path, text) in try Self.sources() {
            guard let name = text.firstMatch(of: /(?:public|package) struct (\w+): MillstreamError/)?.output.1 else {
                continue
            }
            for match in text.matches(of: /static let \w+ = Code\(rawValue: "([^"]+)"\)/) {
                #expect(listed[String(name)]?.contains(String(match.output.1)) == true, "\(match.output.1) in \(path)")
            }
        }
    }

    // MARK: Causes

    @Test func aCauseCanBeFollowedThroughAllErrors() throws {
        let transport = TransportError(.status, "status 404", status: 404)
        let streaming = StreamingError(.notLoaded, "no playlist", cause: transport)
        let error: any MillstreamError = PlayerError(.notLoaded, "no asset", cause: streaming)
        var codes = [error.code.rawValue]
        var cause = error.cause
        while let next = cause as? any MillstreamError {
            codes.append(next.code.rawValue)
            cause = next.cause
        }
        #expect(codes == ["not-loaded", "not-loaded", "http-status"])
        #expect(error.message == "no asset" && error.address == nil)
    }
}
