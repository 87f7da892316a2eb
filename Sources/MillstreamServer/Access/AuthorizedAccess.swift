import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing

/// The access to sources with tokens, and with other origins in place of those that fail.
struct AuthorizedAccess {
    /// The transport for what the server itself loads.
    let transport: any Transport
    /// A closure that returns the URL to which players are redirected for a segment.
    let redirection: SourceAccess.Redirection

    /// Creates the access.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - tokens: The sources of tokens.
    ///   - alternates: The groups of folders with the same contents.
    init(_ base: any Transport, tokens: [ScopedTokenSource], alternates: [[ResourceAddress]]) {
        let signing = TokenTransport(base, sources: tokens, now: { .now })
        // Each origin has its own tokens.
        let choosing = AlternateTransport(signing, groups: alternates)
        transport = choosing
        redirection = { address in try await signing.signed(choosing.preferredAddress(for: address)) }
    }
}

extension StreamCatalog {
    /// The groups of folders with the same contents.
    var alternates: [[ResourceAddress]] {
        streams.compactMap { $0.alternates.isEmpty ? nil : [$0.address] + $0.alternates }
    }

    /// Returns the sources of the tokens for the origins of all streams.
    func tokenSources(loader: ResourceLoader) -> [ScopedTokenSource] {
        streams.flatMap { stream -> [ScopedTokenSource] in
            let source: any AccessTokenSource
            switch stream.tokens {
            case nil: return []
            case .server(let address): source = ServerTokenSource(address, loader: loader)
            case .program(let command):
                #if os(Linux) || os(macOS)
                source = ProgramTokenSource(command)
                #else
                return []
                #endif
            }
            return ([stream.address] + stream.alternates).compactMap { HeaderFieldScope(originOf: $0) }.map {
                ScopedTokenSource(source, for: $0)
            }
        }
    }
}
