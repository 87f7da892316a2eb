import Foundation
import Testing

/// Tests what pages in a real browser can read and change, according to the table "Who may ask the server" of the
/// threat model.
@Suite(.serialized, .tags(.endToEnd), .enabled(if: Chromium.executable != nil, "there is no Chromium"))
struct AccessInBrowserTests {
    @Test(.timeLimit(.minutes(10))) func ownPageMayReadEverything() async throws {
        try await AccessStage.run { stage in
            let results = try await stage.run(
                """
                results.library = await read('/api/library')
                results.poster = await load('img', {src: '/api/streams/private/poster'})
                results.posterStatus = await read('/api/streams/private/poster')
                results.playlist = await read('/play.m3u8?segments=proxy&url=' + encodeURIComponent(source))
                const segment = results.playlist.split('\\n').find(line => line.startsWith('/segment/'))
                results.segment = await read(segment)
                results.change = await read('/api/conditions', {
                  method: 'PUT', headers: {'Content-Type': 'application/json'}, body: '{"conditions":"WiFi"}'
                })
                results.events = await new Promise(resolve => {
                  const events = new EventSource('/api/events')
                  events.onopen = () => { events.close(); resolve('open') }
                  events.onerror = () => resolve('error')
                })
                """,
                at: stage.server + "/"
            )
            #expect(results["library"] == #"basic 200 {"assets":[]}"#)
            #expect(results["posterStatus"]?.hasPrefix("basic 200") == true)
            #expect(results["playlist"]?.hasPrefix("basic 200 #EXTM3U") == true)
            #expect(results["segment"] == "basic 200 segment")
            #expect(results["change"]?.contains(#""shared":"WiFi""#) == true)
            #expect(results["events"] == "open")
            #expect(stage.requestsWithSecrets.filter { $0 == "/private.m3u8" || $0 == "/private.ts" }.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(10))) func pagesOfOtherSitesCannotReadPrivateData() async throws {
        try await AccessStage.run { stage in
            for page in stage.otherPages {
                for server in [
                    stage.server, "http://localhost:\(stage.serverPort)", "http://evil.example:\(stage.serverPort)",
                ] {
                    let results = try await stage.run(
                        """
                        const paths = ['/api/library', '//api/library', '/api//library', '/%61pi/library', '/api/library/',
                          '/api/streams', '/api/conditions', '/offline/x/multivariant.m3u8', '//offline/x/multivariant.m3u8',
                          '/metrics', '/', '/console/main.js', '/api/inspect?url=' + encodeURIComponent(source)]
                        for (const path of paths) {
                          results['cors ' + path] = await read('\(server)' + path)
                          results['credentials ' + path] = await read('\(server)' + path, {credentials: 'include'})
                          results['no-cors ' + path] = await read('\(server)' + path, {mode: 'no-cors'})
                        }
                        results.events = await new Promise(resolve => {
                          const events = new EventSource('\(server)/api/events')
                          events.onopen = () => { events.close(); resolve('open') }
                          events.onerror = () => { events.close(); resolve('blocked') }
                        })
                        for (const name of ['img', 'script', 'video'])
                          results[name] = (await load(name, {src: '\(server)/api/streams/private/poster'})) === 'error' ? 'blocked' : 'loaded'
                        """,
                        at: page
                    )
                    #expect(results.count == 13 * 3 + 4)
                    for (name, result) in results {
                        #expect(
                            result == "blocked" || name.hasPrefix("no-cors") && result == "opaque 0 ",
                            "\(page) \(server) \(name): \(result)"
                        )
                    }
                }
            }
            #expect(stage.requests(for: "/poster.png") == 0 && stage.requests(for: "/private.m3u8") == 0)
            #expect(stage.requestsWithSecrets == ["/catalog.json"])
        }
    }

    @Test(.timeLimit(.minutes(10))) func pagesOfOtherSitesCannotChangeAnything() async throws {
        try await AccessStage.run { stage in
            for page in stage.otherPages {
                let results = try await stage.run(
                    """
                    const order = JSON.stringify({url: source})
                    for (const mode of ['cors', 'no-cors']) {
                      for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
                        results[`${mode} ${type}`] = await read(server + '/api/downloads', {
                          method: 'POST', mode, headers: {'Content-Type': type}, body: order
                        })
                      }
                    }
                    results.put = await read(server + '/api/conditions', {
                      method: 'PUT', headers: {'Content-Type': 'application/json'}, body: '{"conditions":"100% Loss"}'
                    })
                    results.delete = await read(server + '/api/library/x', {method: 'DELETE'})
                    for (const type of ['text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded']) {
                      const name = 'frame-' + type
                      const frame = document.createElement('iframe')
                      frame.name = name
                      document.body.append(frame)
                      const form = document.createElement('form')
                      Object.assign(form, {method: 'POST', action: server + '/api/downloads', enctype: type, target: name})
                      const field = document.createElement('input')
                      Object.assign(field, {name: '{"url":"' + source + '","title":"', value: '"}'})
                      form.append(field)
                      document.body.append(form)
                      results['form ' + type] = await new Promise(resolve => {
                        frame.addEventListener('load', () => resolve('answered'))
                        form.submit()
                      })
                    }
                    navigator.sendBeacon(server + '/api/downloads', order)
                    """,
                    at: page
                )
                for (name, result) in results where !name.hasPrefix("form") {
                    #expect(result == "blocked" || result == "opaque 0 ", "\(page) \(name): \(result)")
                }
                #expect(results.keys.filter { $0.hasPrefix("form") }.count == 3)
            }
            let own = try await stage.run(
                """
                results.library = await read('/api/library')
                results.conditions = await read('/api/conditions')
                """,
                at: stage.server + "/"
            )
            #expect(own["library"] == #"basic 200 {"assets":[]}"#)
            #expect(own["conditions"]?.contains(#""shared":"Off""#) == true)
            #expect(stage.requests(for: "/private.m3u8") == 0)
        }
    }

    /// Pages of other sites can play public streams, without the secrets of the server, and cannot reach private hosts.
    @Test(.timeLimit(.minutes(10))) func pagesOfOtherSitesReceivePublicMediaWithoutSecrets() async throws {
        try await AccessStage.run { stage in
            for page in stage.otherPages {
                let results = try await stage.run(
                    """
                    const publicSource = encodeURIComponent('\(AccessStage.publicHost)/public.m3u8'), privateSource = encodeURIComponent(source)
                    results.public = await read(server + '/play.m3u8?segments=proxy&url=' + publicSource)
                    const segment = results.public.split('\\n').find(line => line.startsWith('/segment/'))
                    results.segment = await read(server + segment)
                    results.forged = await read(server + segment.replace('public.ts', 'private.ts'))
                    results.unsigned = await read(server + '/segment/x?segments=proxy&url=' + privateSource)
                    for (const [name, options] of Object.entries({
                      plain: {}, credentials: {credentials: 'include'}, noReferrer: {referrerPolicy: 'no-referrer'},
                      noCors: {mode: 'no-cors', referrerPolicy: 'no-referrer'}, range: {headers: {Range: 'bytes=0-'}}
                    })) results['private ' + name] = await read(server + '/play.m3u8?url=' + privateSource, options)
                    const address = server + '/play.m3u8?url=' + privateSource
                    results['private img'] = await load('img', {src: address, referrerPolicy: 'no-referrer'})
                    results['private video'] = await load('video', {src: address})
                    results['private anonymous video'] = await load('video', {crossOrigin: 'anonymous', src: address})
                    await load('iframe', {src: address})
                    const link = window.open(address)
                    await new Promise(resolve => setTimeout(resolve, 500))
                    link?.close()
                    const sandboxed = document.createElement('iframe')
                    sandboxed.sandbox = 'allow-scripts'
                    results['private null origin'] = await new Promise(resolve => {
                      addEventListener('message', event => resolve(event.data))
                      sandboxed.srcdoc = `<script>fetch('${address}').then(a => a.text()).then(t => parent.postMessage(t, '*'))<\\/script>`
                      document.body.append(sandboxed)
                    })
                    """,
                    at: page
                )
                #expect(results["public"]?.hasPrefix("cors 200 #EXTM3U") == true, "\(results)")
                #expect(results["segment"] == "cors 200 segment")
                #expect(results["forged"]?.contains("invalid-signature") == true)
                #expect(results["unsigned"]?.contains("invalid-signature") == true)
                for name in ["plain", "credentials", "noReferrer", "noCors", "range"] {
                    let result = try #require(results["private \(name)"])
                    let isRefused = result.contains("address-refused") || ["blocked", "opaque 0 "].contains(result)
                    #expect(isRefused, "\(page) \(name): \(result)")
                }
                for name in ["img", "video", "anonymous video"] { #expect(results["private \(name)"] == "error") }
                #expect(results["private null origin"]?.contains("address-refused") == true)
            }
            #expect(stage.requests(for: "/private.m3u8") == 0 && stage.requests(for: "/private.ts") == 0)
            #expect(stage.requests(for: "/public.m3u8") == 3 && stage.requests(for: "/public.ts") == 3)
            #expect(stage.requestsWithSecrets == ["/catalog.json"])
        }
    }
}
