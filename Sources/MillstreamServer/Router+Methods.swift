import HTTPTypes
import Hummingbird

extension Router {
    /// The methods that are refused at paths that do not have them; others are unknown to the server.
    private static var knownMethods: [HTTPRequest.Method] {
        [.get, .head, .post, .put, .patch, .delete, .options, .trace]
    }

    /// Adds routes that answer requests whose method the path does not have with 405 and `Allow` (RFC 9110 §15.5.6).
    ///
    /// It is called after all other routes are added. `HEAD` counts as a method of each path with `GET`.
    ///
    /// - Parameter others: The methods that a middleware answers at all paths.
    func refuseOtherMethods(besides others: [HTTPRequest.Method] = []) {
        var methods: [String: (path: RouterPath, methods: [HTTPRequest.Method])] = [:]
        for route in routes {
            methods[route.path.description, default: (route.path, others)].methods.append(route.method)
        }
        for (path, known) in methods.values {
            let isAllowed = { (method: HTTPRequest.Method) -> Bool in
                known.contains(method) || method == .head && known.contains(.get)
            }
            let allowed = Self.knownMethods.filter(isAllowed).map(\.rawValue).joined(separator: ", ")
            for method in Self.knownMethods where !isAllowed(method) {
                on(path, method: method) { request, _ -> Response in
                    let message = "the address has no method \(request.method.rawValue), only \(allowed)"
                    var response = ServerError(.methodNotAllowed, "method-not-allowed", message).response
                    response.headers[.allow] = allowed
                    return request.method == .head ? response.createHeadResponse() : response
                }
            }
        }
    }
}
