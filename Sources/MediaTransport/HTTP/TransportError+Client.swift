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
    static func convertingErrors(_ error: any Error, address: ResourceAddress) -> any Error {
        if error is CancellationError || error is TransportError { return error }
        if let error = error as? HTTPClientError, error == .cancelled { return CancellationError() }
        let (code, message) = codeAndMessage(for: error)
        return TransportError(code, message, address: address, cause: error)
    }

    private static func codeAndMessage(for error: any Error) -> (Code, String) {
        switch error {
        case let error as HTTPClientError: codeAndMessage(for: error)
        case is NIOConnectionError: (.cannotConnect, "the connection could not be established")
        case is NIOSSLError, is NIOSSLExtraError: (.insecure, "TLS failed (\(error))")
        case NIOHTTPDecompression.DecompressionError.limit:
            (.tooLarge, "the compressed body expands to more than 250 times its size")
        case is NIOHTTPDecompression.DecompressionError: (.wrongContent, "the compressed body is damaged")
        case is NIOHTTPDecompression.ExtraDecompressionError: (.connectionLost, "the compressed body is truncated")
        case HTTPParserError.invalidEOFState:
            (.connectionLost, "the server closed the connection before the end of the body")
        case is HTTPParserError: (.wrongContent, "the response is not valid HTTP (\(error))")
        case let error as IOError where isConnectionFailure(error.errnoCode):
            (.cannotConnect, "the connection could not be established")
        case is IOError, is ChannelError: (.connectionLost, "the connection was lost (\(error))")
        default: (.connectionLost, "the request failed (\(error))")
        }
    }

    /// Returns a Boolean value that indicates whether a system call failed because no connection could be established.
    private static func isConnectionFailure(_ code: CInt) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EACCES, EPERM].contains(code)
    }

    private static func codeAndMessage(for error: HTTPClientError) -> (Code, String) {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout:
            (.cannotConnect, "the connection could not be established before the timeout")
        case .readTimeout, .deadlineExceeded: (.timedOut, "no data was received before the timeout")
        case .invalidURL, .emptyHost, .emptyScheme: (.addressRefused, "the URL is invalid")
        case .tlsHandshakeTimeout: (.insecure, "the TLS handshake timed out")
        case .remoteConnectionClosed, .uncleanShutdown: (.connectionLost, "the server closed the connection")
        default: (.connectionLost, "the request failed (\(error))")
        }
    }
}
