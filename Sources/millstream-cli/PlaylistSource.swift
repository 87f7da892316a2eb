import Foundation
import HLSPlaylist
import MediaTransport
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import SegmentFormat

/// A SOURCE argument of the command line: an address, a file, or `-` for standard input.
struct PlaylistSource {
    let text: String
    let baseURL: String?

    /// Loads and parses the playlist.
    ///
    /// - Parameters:
    ///   - loader: The loader.
    ///   - variables: The variables that the playlist may import.
    ///   - declaresAllImports: A Boolean value that indicates whether the diagnostics report an import of any other variable.
    ///   - budget: The budget of an edit; `nil` for the limits of the parser.
    ///   - presentations: The presentations to which a manifest from standard input is added; `nil` to refuse it.
    /// - Returns: The playlist.
    /// - Throws: ``Failure`` if the resource is not a playlist, or the error of the loader or the budget.
    func load(
        _ loader: ResourceLoader,
        variables: [String: String] = [:],
        declaresAllImports: Bool = false,
        budget: EditBudget? = nil,
        presentations: PresentationStore? = nil
    ) async throws -> Playlist {
        var (bytes, address) = try await bytes(loader, budget: budget)
        if text == "-", let presentations, ManifestRecognition(bytes, isComplete: true) == .manifest {
            bytes = try await presentations.multivariantPlaylist(
                of: bytes,
                at: address ?? ResourceAddress(filePath: "/dev/stdin"),
                baseAddress: address,
                using: loader
            )
        }
        return try Self.playlist(
            bytes,
            address: address,
            name: text,
            variables: variables,
            declaresAllImports: declaresAllImports,
            budget: budget
        )
    }

    /// Parses a playlist that was loaded.
    static func playlist(
        _ bytes: [UInt8],
        address: ResourceAddress?,
        name: String,
        variables: [String: String] = [:],
        declaresAllImports: Bool = false,
        budget: EditBudget? = nil
    ) throws -> Playlist {
        var context = PlaylistContext(address: address, importableVariables: variables)
        context.declaresAllImports = declaresAllImports
        // An edit can combine the playlist with local ones, so that it is verified before.
        context.mayNameFiles = budget != nil
        let playlist: Playlist
        do {
            playlist = try Playlist.parse(
                bytes,
                context: context,
                limits: budget?.limits.loadedPlaylist ?? PlaylistLimits()
            )
            // The edited playlist has another URL, so that the parameter could not be added afterwards.
            if budget != nil, case .multivariant(let multivariant) = playlist { try multivariant.checkParameters() }
        } catch {
            let isUnknown = error == .notAPlaylist(content: nil)
            let container = isUnknown ? MediaContainer(ofMediaFile: bytes)?.nameWithArticle : nil
            let text = container.map { "\($0), not an HLS playlist" } ?? error.textForSource
            var failure = Failure(.badInput, error.code.rawValue, "\(Self.name(name)): \(text)")
            failure.hint = error.code == .dashManifest ? DASHFlags.bridgeHint : error.hint
            if budget != nil, case .limitExceeded(.entryCount, _) = error {
                failure.hint = "raise the limit with --max-playlist-entries COUNT"
            }
            throw failure
        }
        if budget != nil, let reason = playlist.refusalReason {
            let code = PlaylistParsingError.Code.notAPlaylist.rawValue
            throw Failure(.badInput, code, "\(Self.name(name)): \(reason)")
        }
        return playlist
    }

    /// Returns the name of a source for messages: a file as given, an address without parts that can be secret.
    static func name(_ text: String) -> String {
        let address = ResourceAddress(text)
        if text == "-" { return "standard input" }
        return address.isHTTP || address.normalizedScheme == "data" ? address.description : text
    }

    /// Returns a source as reports name it: a file as given, an address without its user name and password.
    static func reportedName(_ text: String) -> String {
        let address = ResourceAddress(text)
        return address.isHTTP ? address.withoutUserInformation.text : text
    }

    /// Returns the address of a source other than standard input, without a user name and password.
    ///
    /// ``HTTPFlags`` sends these as a header field to the origin of the source, so that no report or log contains them.
    ///
    /// - Throws: ``Failure`` if the text is empty or its scheme is not supported.
    static func address(_ text: String) throws -> ResourceAddress {
        guard !text.isEmpty else { throw Failure(.wrongUsage, "usage", "the source is empty") }
        if let address = AssumedScheme.address(text) {
            try verifyPort(of: address)
            return address.withoutUserInformation
        }
        let address = ResourceAddress(text)
        guard !address.isRefusedFile else {
            let message = "a remote playlist refers to a local file, which it must not do: \(address.withoutRefusal)"
            throw Failure(.failed, "address-refused", message)
        }
        try verifyPort(of: address)
        if let scheme = address.normalizedScheme {
            if ["http", "https", "file", "data"].contains(scheme) { return address.withoutUserInformation }
            // Drive letters and file names with a colon are files; a text with an authority is an address.
            guard address.authority == nil else {
                throw Failure(
                    .wrongUsage,
                    "usage",
                    "the URL scheme \(scheme) is not supported",
                    hint: "a source must be an http or https URL, a file, or -"
                )
            }
        }
        return ResourceAddress(filePath: URL(fileURLWithPath: text).standardizedFileURL.path)
    }

    /// Verifies that the port of an HTTP address is a number that a port can have.
    ///
    /// - Throws: ``Failure``.
    private static func verifyPort(of address: ResourceAddress) throws {
        guard ["http", "https"].contains(address.normalizedScheme), !(1...65_535).contains(address.port ?? 0),
            let port = address.authority?.split(separator: ":", omittingEmptySubsequences: false).last,
            !port.isEmpty, port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return }
        throw Failure(.wrongUsage, "usage", "the port of a URL must be between 1 and 65535, not \(port): \(address)")
    }

    /// The base URL of `--base-url`; `nil` if there is none.
    var base: ResourceAddress? {
        get throws {
            let base = baseURL.map { ResourceAddress($0).withoutUserInformation }
            if let base, !base.isAbsolute {
                throw Failure(.wrongUsage, "usage", "--base-url must be an absolute URL, not \"\(base)\"")
            }
            return base
        }
    }

    /// Loads the resource; returns its bytes and the base URL of its references.
    func bytes(
        _ loader: ResourceLoader,
        budget: EditBudget? = nil
    ) async throws -> ([UInt8], ResourceAddress?) {
        let base = try base
        if text == "-" {
            let bytes = [UInt8](try InputFile.standardInput())
            try budget?.receive(bytes.count)
            return (bytes, base)
        }
        let loader =
            budget.map { budget in
                loader.wrappingTransport { MeteredTransport($0) { try budget.receive($0) } }
            } ?? loader
        let loaded = try await loader.load(TransportRequest(try Self.address(text), kind: .playlist))
        return (loaded.bytes, base ?? loaded.address)
    }
}
