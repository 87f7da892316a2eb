import ArgumentParser
import AssetStorage
import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTransport
import MillstreamDownloads
import MillstreamServer
import PlaylistEditing
import PresentationLoading
import ReportFormat
import ResourceAddressing
import StreamingEngine

/// An error that ends the program: a message, an optional hint and an exit status for scripts.
struct Failure: Error {
    /// The exit statuses of the command line.
    enum Status: Int32 {
        case done = 0
        case failed = 1
        case badInput = 2
        case wrongUsage = 64
        case interrupted = 130
        /// The reader of an output closed it: 128 plus the number of SIGPIPE, as shells report it for other programs.
        case outputClosed = 141
    }

    let status: Status
    let code: String
    private(set) var message: String
    var hint: String?

    init(_ status: Status, _ code: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Creates the failure for an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - arguments: The arguments of the program, for errors of their parser.
    init(_ error: any Error, arguments: [String] = []) {
        self.init(describing: error, arguments)
        if !(error is Failure), Self.isFullDisk(error) {
            self = Failure(status, Self.fullDiskCode, message, hint: hint ?? Self.fullDiskHint)
        }
        guard !(error is Failure), let explanation = Self.explanation(in: error) else { return }
        message += "; the server says: \(explanation)"
    }

    private init(describing error: any Error, _ arguments: [String]) {
        if let cause = Self.manifestError(in: error) {
            // One manifest has one code, whatever layer reports it.
            if case .tooLarge = cause {
            } else {
                self.init(.badInput, "invalid-manifest", "\(error)")
                return
            }
        }
        switch error {
        case let error as Failure: self = error
        case let error as OutputError where error.isClosed: self.init(.outputClosed, "output-closed", "")
        case let error as OutputError:
            self.init(.failed, "output-failed", "\(error.output) cannot be written: \(error.reason)")
        case is CancellationError: self.init(.interrupted, "interrupted", "interrupted; completed work was stored")
        case let error as PlaylistParsingError:
            self.init(.badInput, error.code.rawValue, error.textForSource)
            hint = error.code == .dashManifest ? DASHFlags.bridgeHint : error.hint
        case let error as PlaylistEditError:
            switch error {
            case .unknownEdit, .invalidValue, .tooManyEdits, .tooManySources:
                self.init(.wrongUsage, error.code.rawValue, error.description)
            case .loadsTooMuch:
                self.init(
                    .failed,
                    error.code.rawValue,
                    error.description,
                    hint: "raise the limit with --max-playlist-size MIB"
                )
            case .tooLarge(let limit):
                self.init(.failed, error.code.rawValue, error.description)
                switch limit {
                case .byteCount: hint = "raise the limit with --max-answer-size MIB"
                case .entryCount: hint = "raise the limit with --max-playlist-entries COUNT"
                case .lineLength: break
                }
            case .mapCannotEnd:
                self.init(
                    .failed,
                    error.code.rawValue,
                    Self.namingFiles(in: error.description),
                    hint: error.hint
                )
            case .nothingLeft, .wrongKind, .timeOutside, .cannotStitch, .notStarted, .notPublished, .unwritableAddress,
                .unwritableVariable, .unreadableResult, .failed, .invalidName:
                self.init(.failed, error.code.rawValue, error.description)
            }
        case let error as StateFileError:
            let isInput = error.code == .damaged || error.code == .tooNew
            self.init(isInput ? .badInput : .failed, error.code.rawValue, error.description)
        case let error as TranslationError: self.init(.failed, error.code.rawValue, error.description)
        case let error as TransportError:
            if let cause = error.cause as? TranslationError {
                self.init(.failed, cause.code.rawValue, error.description)
                return
            }
            let code = error.code.rawValue
            self.init(
                Self.isWrongDocument(code) ? .badInput : .failed,
                code,
                error.description,
                hint: Self.isManifest(code) ? DASHFlags.bridgeHint : Self.hint(for: error)
            )
        case let error as StorageError:
            let hint: String? =
                switch error.code {
                case .full: error.hint ?? Self.fullDiskHint
                case .alreadyExists: "choose another name, or delete what is there"
                default: nil
                }
            let isInput = error.code == .unsupportedArtwork || error.code == .artworkTooLarge
            self.init(isInput ? .badInput : .failed, error.code.rawValue, error.description, hint: hint)
        case let error as ListeningError:
            self.init(.failed, error.code.rawValue, error.description, hint: error.hint)
        case let error as ServerSecret.ReadingError:
            self.init(.failed, error.code.rawValue, error.description, hint: error.hint)
        case let error as StreamCatalog.ReadingError: self.init(.badInput, error.code.rawValue, error.description)
        case let error as StreamingError:
            let message = Self.message(of: error)
            // A resource that is not loaded or not recognized has one code, whatever command loads it.
            let code: String =
                switch error.code {
                case .notLoaded, .unreachable: (error.cause as? TransportError)?.code.rawValue ?? error.code.rawValue
                case .notRecognized: PlaylistParsingError.Code.notAPlaylist.rawValue
                default: error.code.rawValue
                }
            let isInput =
                [.notRecognized, .needsTranslation, .unreadablePlaylist].contains(error.code)
                || Self.isWrongDocument(code)
            let hint =
                error.code == .needsTranslation || Self.isManifest(code)
                ? DASHFlags.bridgeHint
                : (error.cause as? PlaylistParsingError)?.hint ?? Self.hint(for: error.cause as? TransportError)
            self.init(isInput ? .badInput : .failed, code, message, hint: hint)
        case let error as DownloadError:
            let isInput = error.code == .notAPlaylist || error.code == .live
            self.init(isInput ? .badInput : .failed, error.detail, Self.message(of: error), hint: error.hint)
            if hint == nil { hint = Self.hint(for: error.cause as? TransportError) }
        case let error as any MillstreamError: self.init(.failed, error.code.rawValue, error.description)
        default:
            let exitCode = MillstreamCommand.exitCode(for: error)
            if exitCode == .success {
                // The text of `--help` and `--version` is not an error, so it is written to standard output.
                self.init(.done, "", MillstreamCommand.fullMessage(for: error))
            } else if exitCode == .validationFailure {
                let command = Self.commandPath(arguments)
                let usage = UsageMessage(Self.usageMessage(of: error, arguments), arguments: arguments)
                self.init(.wrongUsage, "usage", usage.text, hint: usage.hint ?? "see \(command) --help")
            } else {
                let isSystemError = [NSPOSIXErrorDomain, NSCocoaErrorDomain].contains((error as NSError).domain)
                self.init(.failed, "failed", isSystemError ? FileErrorText.reason(of: error) : "\(error)")
            }
        }
    }

    /// The maximum number of arguments and options that a command requires.
    private static let maximumArgumentCount = 4

    /// Returns the message of the parser of arguments about wrong usage, in one line.
    ///
    /// A missing argument or required option is reported before an unknown option, which may be the cause. So that the unknown
    /// option is named, the arguments are parsed again with others in place of those that are missing.
    private static func usageMessage(of error: any Error, _ arguments: [String]) -> String {
        func line(_ error: any Error) -> String {
            MillstreamCommand.message(for: error).split(whereSeparator: \.isNewline).joined(separator: " ")
        }
        let message = line(error)
        guard !message.hasPrefix("Unknown option"), !message.hasPrefix("Missing value") else { return message }
        var completed = Array(arguments.dropFirst())
        var missing = message
        for _ in 1...maximumArgumentCount {
            completed += UsageMessage.arguments(inPlaceOf: missing)
            do {
                _ = try MillstreamCommand.parseAsRoot(completed)
                return message
            } catch {
                missing = line(error)
                if missing.hasPrefix("Unknown option") { return missing }
            }
        }
        return message
    }

    /// Returns the names of the program and of the commands and subcommands in its arguments.
    private static func commandPath(_ arguments: [String]) -> String {
        var path = ["millstream"]
        var commands = MillstreamCommand.configuration.subcommands
        for argument in arguments.dropFirst() {
            guard let command = commands.first(where: { $0.configuration.commandName == argument }) else { break }
            path.append(argument)
            commands = command.configuration.subcommands
        }
        return path.joined(separator: " ")
    }

    /// Returns the explanation of a server in the error of a transport that caused an error; `nil` if there is none.
    private static func explanation(in error: any Error) -> String? {
        var current: (any Error)? = error
        while let error = current {
            if let explanation = (error as? TransportError)?.explanation { return explanation }
            current = (error as? any MillstreamError)?.cause
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether a code is that of a source that is not the playlist that a command needs.
    private static func isWrongDocument(_ code: String) -> Bool {
        switch PlaylistParsingError.Code(rawValue: code) {
        case .notAPlaylist, .dashManifest, .unexpectedKind, .undeclaredImport, .missingQueryParameter: true
        case .limitExceeded, nil: false
        }
    }

    private static func isManifest(_ code: String) -> Bool { code == PlaylistParsingError.Code.dashManifest.rawValue }

    /// Returns the error of the manifest parser that caused an error; `nil` if another one did.
    private static func manifestError(in error: any Error) -> ManifestParsingError? {
        var current: (any Error)? = error
        while let error = current {
            if let error = error as? ManifestParsingError { return error }
            current = (error as? any MillstreamError)?.cause
        }
        return nil
    }

    func exit() -> Never {
        guard status != .done else {
            do { try StandardOutput.write(bytes: Array("\(message)\n".utf8)) } catch { Failure(error).exit() }
            Foundation.exit(status.rawValue)
        }
        write()
        Foundation.exit(status.rawValue)
    }

    /// Writes the message and the hint to standard error.
    func write() {
        guard status != .outputClosed else { return }
        StandardError.write("millstream: error: \(message) (\(code))\n")
        if let hint { StandardError.write("hint: \(hint)\n") }
    }
}
