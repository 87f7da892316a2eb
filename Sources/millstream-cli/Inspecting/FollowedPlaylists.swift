import HLSPlaylist
import MediaTransport
import ReportFormat
import ResourceAddressing

/// The media playlists of a multivariant playlist, for commands with `--follow`.
///
/// A playlist that cannot be loaded does not prevent that the others are.
struct FollowedPlaylists {
    /// A media playlist, or the reason for which it is missing.
    struct Entry {
        let address: ResourceAddress
        let result: Result<Playlist, Failure>
    }

    /// The playlists, each once, in the order of the multivariant playlist.
    let entries: [Entry]

    /// Creates an instance by loading the playlists.
    ///
    /// - Throws: `CancellationError`.
    init(of multivariant: MultivariantPlaylist, _ loader: ResourceLoader) async throws {
        let addresses =
            multivariant.variants.map(\.address) + multivariant.renditions.compactMap(\.address)
            + multivariant.iFrameVariants.map(\.address)
        var seen: Set<String> = []
        var entries: [Entry] = []
        for address in addresses where seen.insert(address.text).inserted {
            let source = PlaylistSource(text: address.text, baseURL: nil)
            do {
                let playlist = try await source.load(
                    loader,
                    variables: multivariant.variables,
                    declaresAllImports: true
                )
                entries.append(Entry(address: address, result: .success(playlist)))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                entries.append(Entry(address: address, result: .failure(Failure(error))))
            }
        }
        self.entries = entries
    }

    /// Verifies that no playlist is missing; called after the others have been reported.
    ///
    /// - Throws: ``Failure``.
    func verifyIsComplete() throws {
        let failures = entries.compactMap { entry in
            if case .failure(let failure) = entry.result { failure } else { nil }
        }
        guard let first = failures.first else { return }
        let isInvalid = failures.allSatisfy { $0.status == .badInput }
        throw Failure(
            isInvalid ? .badInput : .failed,
            first.code,
            "\(failures.count) of \(QuantityText.count(entries.count, "media playlist")) could not be read",
            hint: first.hint
        )
    }
}

extension FollowedPlaylists.Entry {
    /// The playlist as a report, or an object with `url` and `error` if it is missing.
    var report: ReportValue {
        switch result {
        case .success(let playlist): playlist.report
        case .failure(let failure):
            .fields(["url": .string(address.withoutUserInformation.text), "error": failure.report])
        }
    }

    /// The playlist as text for people, or the reason for which it is missing.
    var text: TerminalText {
        switch result {
        case .success(let playlist): PlaylistTable(playlist).text
        case .failure(let failure):
            "\(address.withoutUserInformation.text)\nerror: \(failure.message) (\(failure.code))"
        }
    }
}

extension Playlist {
    /// The error with which players and downloads refuse a media playlist that imports a variable which is not
    /// defined; `nil` if it imports none.
    var undeclaredImport: PlaylistParsingError? {
        guard case .media(let playlist) = self else { return nil }
        do throws(PlaylistParsingError) {
            try playlist.checkImports()
            return nil
        } catch {
            return error
        }
    }
}

extension Failure {
    /// The failure as a report.
    var report: ReportValue { .fields(["code": .string(code), "message": .string(message)]) }
}
