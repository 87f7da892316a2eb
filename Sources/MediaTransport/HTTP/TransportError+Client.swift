import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import ResourceAddressing

extension TransportError {
    /// Converts an error of AsyncHTTPClient to a ``TransportError``, and a cancellation to `CancellationError`.
    static func translating(_ error: any Error, address: ResourceAddress) -> any Error {
        if error is CancellationError || error is TransportError { return error }
        if let error = error as? HTTPClientError, error == .cancelled { return CancellationError() }
        let (code, message) = meaning(of: error)
        return TransportError(code, message, address: address)
    }

    private static func meaning(of error: any Error) -> (Code, String) {
        switch error {
        case let error as HTTPClientError: meaning(of: error)
        case is NIOConnectionError: (.cannotConnect, "no connection could be made")
        case is NIOSSLError, is NIOSSLExtraError: (.insecure, "TLS failed (\(error))")
        case NIOHTTPDecompression.DecompressionError.limit:
            (.tooLarge, "the compressed body expands to more than 250 times its size")
        case is NIOHTTPDecompression.DecompressionError: (.wrongContent, "the compressed body is damaged")
        case is NIOHTTPDecompression.ExtraDecompressionError: (.connectionLost, "the compressed body was cut short")
        case HTTPParserError.invalidEOFState:
            (.connectionLost, "the server closed the connection in the middle of the body")
        case is HTTPParserError: (.wrongContent, "the answer is not HTTP (\(error))")
        case let error as IOError where isRefusal(error.errnoCode): (.cannotConnect, "no connection could be made")
        case is IOError, is ChannelError: (.connectionLost, "the connection broke (\(error))")
        default: (.connectionLost, "the request failed (\(error))")
        }
    }

    /// Returns a Boolean value that indicates whether a system call failed because no connection could be established.
    private static func isRefusal(_ code: CInt) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EACCES, EPERM].contains(code)
    }

    private static func meaning(of error: HTTPClientError) -> (Code, String) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout: (.cannotConnect, "no connection within the time allowed")
        case .readTimeout, .deadlineExceeded: (.timedOut, "nothing came within the time allowed")
        case .invalidURL, .emptyHost, .emptyScheme: (.addressRefused, "the address cannot be read")
        case .tlsHandshakeTimeout: (.insecure, "TLS took longer than the time allowed")
        case .remoteConnectionClosed, .uncleanShutdown: (.connectionLost, "the server closed the connection")
        default: (.connectionLost, "the request failed (\(error))")
        }
    }
}
