import type { Framework } from './frameworks.ts';

/** The lines that read the raw body, and the name of their language in Markdown. */
export type RawBodyExample = { language: string; code: string };

/** How a handler for `/hooks` reads the raw body in each framework. */
export const RAW_BODY_EXAMPLES: Readonly<Record<Framework, RawBodyExample>> = {
  express: {
    language: 'js',
    code: `app.post('/hooks', express.raw({ type: 'application/json' }), (request, response) => {
  const event = verifyDelivery({ secret, headers: request.headers, body: request.body });
  response.sendStatus(204);
});
app.use(express.json()); // for the other routes, after this one`,
  },
  fastify: {
    language: 'js',
    code: `app.register(async (hooks) => {
  hooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body));
  hooks.post('/hooks', async (request, reply) => {
    const event = verifyDelivery({ secret, headers: request.headers, body: request.body });
    return reply.code(204).send();
  });
});`,
  },
  nextjs: {
    language: 'js',
    code: `// app/hooks/route.js
export async function POST(request) {
  const event = verifyDelivery({ secret, headers: request.headers, body: await request.text() });
  return new Response(null, { status: 204 });
}`,
  },
  hono: {
    language: 'js',
    code: `app.post('/hooks', async (c) => {
  const event = verifyDelivery({ secret, headers: c.req.raw.headers, body: await c.req.text() });
  return c.body(null, 204);
});`,
  },
  lambda: {
    language: 'js',
    code: `export async function handler({ headers, body, isBase64Encoded }) {
  const rawBody = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const event = verifyDelivery({ secret, headers, body: rawBody });
  return { statusCode: 204 };
}`,
  },
  flask: {
    language: 'python',
    code: `@app.post("/hooks")
def hooks():
    event = verify_webhook(request.headers, request.get_data(), secret)
    return Response(status=204)`,
  },
  django: {
    language: 'python',
    code: `@csrf_exempt
def hooks(request):
    event = verify_webhook(request.headers, request.body, secret)
    return HttpResponse(status=204)`,
  },
  fastapi: {
    language: 'python',
    code: `@app.post("/hooks")
async def hooks(request: Request):
    event = verify_webhook(request.headers, await request.body(), secret)
    return Response(status_code=204)`,
  },
  rails: {
    language: 'ruby',
    code: `class HooksController < ActionController::API
  def create
    raw_body = request.raw_post # verify it, then JSON.parse(raw_body)
    head :no_content
  end
end`,
  },
  laravel: {
    language: 'php',
    code: `Route::post('/hooks', function (Request $request) {
    $rawBody = $request->getContent(); // verify it, then json_decode($rawBody)
    return response()->noContent();
});`,
  },
  go: {
    language: 'go',
    code: `func hooks(w http.ResponseWriter, r *http.Request) {
	rawBody, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	// verify rawBody, then json.Unmarshal(rawBody, &event)
	w.WriteHeader(http.StatusNoContent)
}`,
  },
  spring: {
    language: 'java',
    code: `@PostMapping("/hooks")
ResponseEntity<Void> hooks(@RequestHeader HttpHeaders headers, @RequestBody byte[] rawBody) {
    // verify rawBody, then objectMapper.readTree(rawBody)
    return ResponseEntity.noContent().build();
}`,
  },
  aspnet: {
    language: 'csharp',
    code: `app.MapPost("/hooks", async (HttpRequest request) =>
{
    using var buffer = new MemoryStream();
    await request.Body.CopyToAsync(buffer);
    var rawBody = buffer.ToArray(); // verify it, then JsonDocument.Parse(rawBody)
    return Results.NoContent();
});`,
  },
};
